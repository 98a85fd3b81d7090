"""What the only voter is advised when its files cannot be used: no other replica has its data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import NO_VOTERS
from kraftctl.storage.only_voter import _readable_voters
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from kraftctl_protocol.uuids import ONE_UUID
from tests.storage.test_contradictions import REFUSED, SEGMENT_BYTES, Damage, delete, flip, live
from tests.support.partitions import DIRECTORY_ID, NODE_ID, open_partition


def unreadable_quorum_state(log_dir: Path) -> None:
    (log_dir / PARTITION_DIRECTORY / "quorum-state").write_text("{")


def snapshot_without_end(log_dir: Path) -> None:
    content = SnapshotBatches(2, 0)
    path = log_dir / PARTITION_DIRECTORY / "00000000000000000040-0000000002.checkpoint"
    path.write_bytes(content.header(0)[:-1])


UNREADABLE = [
    pytest.param(unreadable_quorum_state, "quorum-state", id="quorum-state"),
    pytest.param(snapshot_without_end, "is damaged", id="snapshot"),
    pytest.param(flip(10, 70, 0x01), "is corrupt", id="log-in-the-middle"),
    pytest.param(delete(f"{10:020d}.log"), "a segment is missing", id="segment"),
]


def static_voters(log_dir: Path, *node_ids: int) -> VoterSet:
    return VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in node_ids])


def voter_set(*node_ids: int) -> VoterSet:
    keys = [ReplicaKey(node_id, DIRECTORY_ID if node_id == NODE_ID else ONE_UUID) for node_id in node_ids]
    return VoterSet([VoterNode(key, {"CONTROLLER": ("localhost", 9093)}) for key in keys])


def dynamic_voters(log_dir: Path, *node_ids: int) -> VoterSet:
    """In the first checkpoint, as `format` writes it."""
    voters = voter_set(*node_ids)
    batches = SnapshotBatches(0, 0)
    store = SnapshotStore.open(log_dir / PARTITION_DIRECTORY)
    store.write(BOOTSTRAP_SNAPSHOT_ID, [batches.header(0, 1, voters.to_record()), batches.footer()])
    return NO_VOTERS


@pytest.mark.parametrize("configure", [static_voters, dynamic_voters])
@pytest.mark.parametrize(("damage", "text"), [*REFUSED, *UNREADABLE])
def test_the_only_voter_is_not_advised_to_replace_itself(
    tmp_path: Path, damage: Damage, text: str, configure: Callable[..., VoterSet]
) -> None:
    """No other node has its data. Of two voters, the other one may have."""
    for node_ids in ((NODE_ID,), (NODE_ID, 2)):
        log_dir = tmp_path / str(len(node_ids)) / "data"
        log_dir.mkdir(parents=True)
        voters = configure(log_dir, *node_ids)
        live(log_dir).close()
        damage(log_dir)
        with pytest.raises(StorageError, match=text) as caught:
            open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=voters)
        advice = str(caught.value).partition("Next step: ")[2]
        assert ("replace-voter" in advice) == (len(node_ids) == 2), caught.value
        assert "restore the directory from a backup" in advice
        assert "format" not in advice


@pytest.mark.parametrize("is_newer", [True, False])
def test_voters_of_a_snapshot_are_not_replaced_by_those_of_the_log_before_it(
    tmp_path: Path, is_newer: bool
) -> None:
    """The first segment names the voter that was alone then, and the rest cannot be read."""
    directory = tmp_path / PARTITION_DIRECTORY
    directory.mkdir()
    alone, three = voter_set(NODE_ID), voter_set(NODE_ID, 2, 3)
    segment = directory / f"{0:020d}.log"
    segment.write_bytes(SnapshotBatches(1, 0).header(0, 1, (alone if is_newer else three).to_record()))
    snapshot_id = OffsetAndEpoch(5_000, 3) if is_newer else BOOTSTRAP_SNAPSHOT_ID
    content = SnapshotBatches(snapshot_id.epoch, 0)
    voters = three if is_newer else alone
    store = SnapshotStore.open(directory)
    store.write(snapshot_id, [content.header(0, 1, voters.to_record()), content.footer()])
    found = _readable_voters(directory)
    assert found is not None
    assert found.voter_ids() == three.voter_ids()
