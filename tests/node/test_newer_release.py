"""A log that a newer release has written: unknown records end the process, they are never skipped."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.effects import AppendBatch
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batches
from tests.support.active_controller import BASE_PROPERTIES
from tests.support.simulator.simulated_node import WALL_MS, HaltedError, SimulatedNode

OF_4_4 = 33
"""metadata.version 4.4-IV2."""

UNREGISTER_CONTROLLER = b"\x01\x1d\x00\x00\x00\x0b\xb8\x00"
"""UnregisterControllerRecord of 4.4, type 29 (KIP-1312), of controller 3000."""


def level_record(name: str, level: int) -> RecordAndVersion:
    return RecordAndVersion(FeatureLevelRecord(name=name, feature_level=level), 0)


def restart_with(node: SimulatedNode, value: bytes) -> None:
    """Restart after another controller has committed one more record."""
    offset = node.disk.end_offset
    batch = encode_batch(offset, node.raft.epoch, WALL_MS, [value])
    node.disk.apply(AppendBatch(offset, offset, node.raft.epoch, batch, False))
    node.disk.flushed_offset = offset + 1
    node.crash()
    node.start()
    node.settle()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(
            encode_metadata_record(level_record("metadata.version", OF_4_4).record, 0),
            "metadata.version 33, of which kraftctl supports the levels 7 to 30",
            id="metadata.version",
        ),
        pytest.param(
            encode_metadata_record(level_record("share.version", 2).record, 0),
            "share.version 2, of which kraftctl supports the levels 0 to 1",
            id="share.version",
        ),
        pytest.param(
            encode_metadata_record(level_record("next.version", 1).record, 0),
            "next.version 1, a feature that kraftctl does not know",
            id="unknown-feature",
        ),
        pytest.param(UNREGISTER_CONTROLLER, "type 29 in version 0", id="unknown-record"),
    ],
)
def test_a_committed_record_of_a_newer_release_halts(value: bytes, reason: str) -> None:
    node = SimulatedNode()
    node.settle()
    offset = node.disk.end_offset
    with pytest.raises(HaltedError, match="Next step") as raised:
        restart_with(node, value)
    text = str(raised.value)
    assert text.startswith(f"{BASE_PROPERTIES['log.dirs']}, the metadata log: the record at offset {offset} ")
    assert reason in text


def test_level_0_of_an_unknown_feature_is_the_same_as_none() -> None:
    node = SimulatedNode()
    node.settle()
    restart_with(node, encode_metadata_record(level_record("next.version", 0).record, 0))
    assert node.controller.active


def test_a_level_that_is_unstable_here_needs_the_setting() -> None:
    """As in Kafka 4.3.1: 4.4-IV0 is known, but not production-ready."""
    value = encode_metadata_record(level_record("metadata.version", features.LATEST_TESTING).record, 0)
    node = SimulatedNode()
    node.settle()
    with pytest.raises(HaltedError, match=r"metadata\.version 31"):
        restart_with(node, value)
    node = SimulatedNode(unstable_feature_versions_enable="true")
    node.settle()
    restart_with(node, value)
    assert node.controller.active


def test_a_snapshot_of_a_newer_release_halts() -> None:
    node = SimulatedNode(snapshot_bytes=1)
    node.settle()
    snapshot_id = max(node.snapshot_files)
    content = SnapshotBatches(snapshot_id.epoch, WALL_MS)
    records = content.records([level_record("metadata.version", OF_4_4)])
    batches = [content.header(WALL_MS), *records, content.footer()]
    node.snapshot_files[snapshot_id] = list(read_batches(b"".join(batches)))
    node.crash()
    node.start()
    with pytest.raises(HaltedError, match=rf"snapshot {snapshot_id}: .* metadata\.version 33"):
        node.settle()


def test_bootstrap_records_of_a_newer_release_are_not_written() -> None:
    node = SimulatedNode(metadata_version=OF_4_4)
    with pytest.raises(HaltedError, match=r"metadata\.version 33.*Next step"):
        node.settle()
    assert not node.controller.active
    assert all(batch.is_control for batch in node.disk.batches)
