"""A log that a newer release has written: unknown records end the process, they are never skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kraftctl.metadata import features
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.storage.bootstrap_checkpoint import write_bootstrap_checkpoint
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.log_file_names import checkpoint_file_name
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.active_controller import bootstrap_records
from tests.support.simulator.cluster.clocks import WALL_START_MS
from tests.support.simulator.cluster.lone_node import LoneNode

NEWER_LEVEL = features.LATEST_TESTING + 1
"""A metadata.version of which nothing is known."""

UNKNOWN_RECORD = b"\x01\x1e\x00\x00\x00\x0b\xb8\x00"
"""Type 30, which Kafka 4.4 does not have."""


def level_record(name: str, level: int) -> RecordAndVersion:
    return RecordAndVersion(FeatureLevelRecord(name=name, feature_level=level), 0)


def lone_node(**properties: Any) -> LoneNode:
    node = LoneNode(checked=False, **properties)
    node.settle()
    return node


@pytest.mark.prevents("newer-bootstrap-layout")
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param(
            encode_metadata_record(level_record("metadata.version", NEWER_LEVEL).record, 0),
            "metadata.version 35, of which kraftctl supports the levels 7 to 33",
            id="metadata.version",
        ),
        pytest.param(
            encode_metadata_record(level_record("share.version", 3).record, 0),
            "share.version 3, of which kraftctl supports the levels 0 to 2",
            id="share.version",
        ),
        pytest.param(
            encode_metadata_record(level_record("next.version", 1).record, 0),
            "next.version 1, a feature that kraftctl does not know",
            id="unknown-feature",
        ),
        pytest.param(UNKNOWN_RECORD, "type 30 in version 0", id="unknown-record"),
    ],
)
def test_a_committed_record_of_a_newer_release_halts(value: bytes, reason: str) -> None:
    node = lone_node()
    offset = node.raft.end_offset
    node.restart_after(value)
    with pytest.raises(StorageError, match="Next step") as raised:
        node.settle()
    text = str(raised.value)
    assert text.startswith(
        f"{node.config.metadata_log_dir}/__cluster_metadata-0/{0:020d}.log: the record at offset {offset} "
    )
    assert reason in text


def test_level_0_of_an_unknown_feature_is_the_same_as_none() -> None:
    node = lone_node()
    node.restart_after(encode_metadata_record(level_record("next.version", 0).record, 0))
    node.settle()
    assert node.controller.active


def test_a_level_that_is_unstable_here_needs_the_setting() -> None:
    """As in Kafka 4.4.0: 4.5-IV0 is known, but not production-ready."""
    value = encode_metadata_record(level_record("metadata.version", features.LATEST_TESTING).record, 0)
    node = lone_node()
    node.restart_after(value)
    with pytest.raises(StorageError, match=r"metadata\.version 34"):
        node.settle()
    node = lone_node(unstable_feature_versions_enable="true")
    node.restart_after(value)
    node.settle()
    assert node.controller.active


def test_a_snapshot_of_a_newer_release_halts() -> None:
    node = lone_node(snapshot_bytes=1)
    snapshot_id = max(node.snapshot_ids())
    content = SnapshotBatches(snapshot_id.epoch, WALL_START_MS)
    records = content.records([level_record("metadata.version", NEWER_LEVEL)])
    batches = [content.header(WALL_START_MS), *records, content.footer()]
    node.lose_power()
    with node.storage() as partition:
        partition.write_snapshot(snapshot_id, batches)
    with pytest.raises(StorageError, match=rf"{checkpoint_file_name(snapshot_id)}: .* metadata\.version 35"):
        node.start()


def test_bootstrap_records_of_a_newer_release_are_not_written() -> None:
    """The log already has the record of an election, so it is not empty when the process starts."""
    node = lone_node()
    node.lose_power()
    with node.storage() as partition:
        partition.truncate_log(1)
        write_bootstrap_checkpoint(
            Path(node.config.metadata_log_dir), bootstrap_records(NEWER_LEVEL), WALL_START_MS
        )
    node.start()
    with pytest.raises(StorageError, match=r"metadata\.version 35.*Next step"):
        node.settle()
    assert not node.controller.active
    assert all(batch.header.is_control for batch in read_batches(node.log()))
