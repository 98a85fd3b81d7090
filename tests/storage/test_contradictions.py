"""Files of one directory that contradict each other: refused, recovered or harmless, but never silently.

Every row damages a directory that a real MetadataPartition wrote: two epochs, 30 batches of 10 to a segment,
stopped or killed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import CorruptLogError, StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import FILE_NAME, read_recovery_point
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.storage.batches import batch
from tests.support.partitions import NODE_ID, open_partition

BATCH_BYTES = len(batch(0))
SEGMENT_BYTES = 10 * BATCH_BYTES
ALONE = VoterSet([VoterNode(ReplicaKey(NODE_ID), {})])
THREE = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (1, 2, 3)])
EPOCH_AT = 12
"""Byte of a batch at which its epoch starts: outside of the checksum."""

Damage = Callable[[Path], None]


def live(log_dir: Path) -> MetadataPartition:
    """Offsets 0 to 9 in epoch 1, 10 to 29 in epoch 2; what is returned is still running."""
    partition = open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=1, voted_id=2, data_version=1))
    _append(partition, 0, 10, epoch=1)
    shutil.copytree(log_dir, log_dir.with_name("older"))
    partition.write_quorum_state(ElectionState(epoch=2, data_version=1))
    shutil.copy(partition.quorum_state.path, log_dir.with_name("not-voted"))
    partition.write_quorum_state(ElectionState(epoch=2, voted_id=3, data_version=1))
    _append(partition, 10, 30, epoch=2)
    return partition


def _append(partition: MetadataPartition, start: int, end: int, epoch: int) -> None:
    for offset in range(start, end):
        partition.log.append(batch(offset, epoch))
        partition.flush()


def segment(log_dir: Path, base_offset: int) -> Path:
    return log_dir / PARTITION_DIRECTORY / f"{base_offset:020d}.log"


def delete(name: str) -> Damage:
    return lambda log_dir: (log_dir / PARTITION_DIRECTORY / name).unlink()


def older(name: str) -> Damage:
    """The copy from the end of epoch 1 takes the place of the file."""
    part = Path(PARTITION_DIRECTORY) / name
    return lambda log_dir: _copy(log_dir.with_name("older") / part, log_dir / part)


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def cut(base_offset: int, lost_bytes: int) -> Damage:
    def cut_file(log_dir: Path) -> None:
        path = segment(log_dir, base_offset)
        path.write_bytes(path.read_bytes()[:-lost_bytes])

    return cut_file


def flip(base_offset: int, position: int, mask: int) -> Damage:
    def flip_bits(log_dir: Path) -> None:
        path = segment(log_dir, base_offset)
        content = bytearray(path.read_bytes())
        content[position] ^= mask
        path.write_bytes(content)

    return flip_bits


def roll_back(log_dir: Path) -> None:
    """All of the log, and nothing else, is as it was at the end of epoch 1."""
    for path in (log_dir / PARTITION_DIRECTORY).glob("*.log"):
        path.unlink()
    for path in (log_dir.with_name("older") / PARTITION_DIRECTORY).glob("*.log"):
        shutil.copy(path, log_dir / PARTITION_DIRECTORY)


def forget_the_vote(log_dir: Path) -> None:
    _copy(log_dir.with_name("not-voted"), log_dir / PARTITION_DIRECTORY / "quorum-state")


LAST_BATCH = 9 * BATCH_BYTES

REFUSED = [
    pytest.param(
        flip(20, LAST_BATCH + EPOCH_AT, 0x10),
        r"020\.log: the batch at byte .* epoch 268435458, but quorum-state of epoch 2",
        id="epoch-flipped-in-the-last-batch",
    ),
    pytest.param(
        flip(20, LAST_BATCH + EPOCH_AT + 3, 0x01),
        r"020\.log: the batch at byte .* epoch 3, but quorum-state of epoch 2",
        id="epoch-one-too-high",
    ),
    pytest.param(
        flip(0, LAST_BATCH + EPOCH_AT + 3, 0x03),
        r"leader-epoch-checkpoint says .* 2 from 10, .* 2 from 9",
        id="epoch-raised-in-the-middle",
    ),
    pytest.param(
        flip(20, LAST_BATCH + 70, 0x01),
        r"020\.log is corrupt at byte .*offset 29.*CRC.*below offset 30",
        id="bit-rot-in-the-last-batch",
    ),
    pytest.param(
        cut(20, 1),
        r"020\.log is corrupt at byte .*offset 29.*cut short.*below offset 30",
        id="last-batch-cut-short",
    ),
    pytest.param(
        cut(20, BATCH_BYTES), r"020\.log ends at offset 29 .* up to offset 30", id="last-batch-cut-off"
    ),
    pytest.param(
        cut(20, 10 * BATCH_BYTES), r"020\.log ends at offset 20 .* up to offset 30", id="last-segment-empty"
    ),
    pytest.param(
        delete(f"{20:020d}.log"),
        r"010\.log ends at offset 20 .* up to offset 30",
        id="last-segment-deleted",
    ),
    pytest.param(
        roll_back,
        r"000\.log ends at offset 10 in epoch 1.* up to offset 30 in epoch 2",
        id="log-rolled-back",
    ),
    pytest.param(
        older("quorum-state"), r"quorum-state is of epoch 1, .*epoch 2", id="quorum-state-rolled-back"
    ),
    pytest.param(
        forget_the_vote, r"quorum-state does not hold the vote for 3 .*epoch 2", id="vote-forgotten"
    ),
    pytest.param(
        older("leader-epoch-checkpoint"),
        r"leader-epoch-checkpoint says .*1 from 0, the batches .*1 from 0, 2 from 10",
        id="leader-epochs-rolled-back",
    ),
]


@pytest.mark.prevents("contradicting-files")
@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize(("damage", "text"), REFUSED)
def test_refused(tmp_path: Path, damage: Damage, text: str, stops: bool) -> None:
    """With file, place and next step, and again at the next attempt: the evidence is still there."""
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    if stops:
        partition.close()
    damage(log_dir)
    logs = {path: path.read_bytes() for path in log_dir.glob("*/*.log")}
    for _ in range(2):
        with pytest.raises(StorageError, match=text) as caught:
            open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
        assert "Next step" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert {path: path.read_bytes() for path in log_dir.glob("*/*.log")} == logs


def lose_the_directory(log_dir: Path) -> None:
    shutil.rmtree(log_dir / PARTITION_DIRECTORY)


def lose_the_segments(log_dir: Path) -> None:
    for path in (log_dir / PARTITION_DIRECTORY).glob("*.log"):
        path.unlink()


def lose_quorum_state_and_recovery_point(log_dir: Path) -> None:
    (log_dir / PARTITION_DIRECTORY / "quorum-state").unlink()
    (log_dir / FILE_NAME).unlink()


def lose_quorum_state_after_another_controller(log_dir: Path) -> None:
    """Kafka's deletes the witness when it opens the log."""
    delete("quorum-state")(log_dir)
    delete(WITNESS)(log_dir)


LOST = [
    pytest.param(lose_the_directory, 0, id="directory"),
    pytest.param(lose_the_segments, 0, id="segments"),
    pytest.param(lose_quorum_state_after_another_controller, 30, id="quorum-state"),
    pytest.param(lose_quorum_state_and_recovery_point, 30, id="quorum-state-without-recovery-point"),
]


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
@pytest.mark.parametrize(("damage", "end_offset"), LOST)
def test_lost_memory_does_not_vote(tmp_path: Path, damage: Damage, end_offset: int, stops: bool) -> None:
    """It recovers, still does after restarts, and votes only after note_recovered."""
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    if stops:
        partition.close()
    damage(log_dir)
    for _ in range(2):
        partition = open_partition(log_dir, static_voters=THREE)
        assert partition.recovering_epoch == 2
        assert partition.log.end_offset == end_offset
        assert sum("does not vote" in notice for notice in partition.warnings) == 1
        point = read_recovery_point(log_dir)
        assert point is not None
        assert (point.recovering, point.quorum_epoch) == (True, 2)
    partition.write_quorum_state(ElectionState(epoch=5, leader_id=2, data_version=1))
    partition.log.append(batch(end_offset, epoch=5))
    partition.flush()
    partition.close()
    partition = open_partition(log_dir, static_voters=THREE)
    assert partition.recovering_epoch == 5
    partition.note_recovered()
    assert partition.recovering_epoch is None
    partition = open_partition(log_dir, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])


def test_a_replica_that_recovers_may_follow_a_leader_of_an_earlier_epoch(tmp_path: Path) -> None:
    """One that was elected before this replica voted in an epoch that never had a leader."""
    log_dir = tmp_path / "data"
    live(log_dir).write_quorum_state(ElectionState(epoch=9, voted_id=NODE_ID, data_version=1))
    lose_the_directory(log_dir)
    partition = open_partition(log_dir, static_voters=THREE)
    assert partition.recovering_epoch == 9
    partition.write_quorum_state(ElectionState(epoch=2, leader_id=3, data_version=1))
    partition.log.append(batch(0, epoch=2))
    partition.flush()
    assert open_partition(log_dir, static_voters=THREE).recovering_epoch == 9


def test_a_first_start_has_lost_nothing(tmp_path: Path) -> None:
    partition = open_partition(tmp_path, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])
    partition.close()
    partition = open_partition(tmp_path, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])


def test_votes_without_a_log_have_lost_nothing(tmp_path: Path) -> None:
    partition = open_partition(tmp_path, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=4, voted_id=2, data_version=1))
    partition = open_partition(tmp_path, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])


def test_votes_that_are_lost_before_the_first_record_count(tmp_path: Path) -> None:
    partition = open_partition(tmp_path, static_voters=THREE)
    partition.write_quorum_state(ElectionState(epoch=4, voted_id=2, data_version=1))
    partition.close()
    lose_quorum_state_after_another_controller(tmp_path)
    assert open_partition(tmp_path, static_voters=THREE).recovering_epoch == 4


def test_the_only_voter_without_quorum_state_begins_again_from_its_epoch(tmp_path: Path) -> None:
    """No other node can have been elected, and none has the missing records."""
    log_dir = tmp_path / "data"
    live(log_dir).close()
    lose_quorum_state_after_another_controller(log_dir)
    partition = open_partition(log_dir, static_voters=ALONE)
    assert partition.recovering_epoch is None
    assert ["only voter" in notice for notice in partition.warnings] == [True]
    state = partition.read_quorum_state()
    assert state is not None
    assert state.epoch == 2
    partition.close()
    assert open_partition(log_dir, static_voters=ALONE).warnings == []


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lose_the_directory, id="directory"),
        pytest.param(lose_the_segments, id="segments"),
        pytest.param(cut(20, BATCH_BYTES), id="last-batch"),
    ],
)
def test_the_only_voter_does_not_start_without_its_log(tmp_path: Path, damage: Damage) -> None:
    log_dir = tmp_path / "data"
    live(log_dir).close()
    damage(log_dir)
    with pytest.raises(StorageError, match=r"up to offset 30.*only voter.*restore the directory"):
        open_partition(log_dir, static_voters=ALONE)


def test_a_missing_leader_epoch_checkpoint_is_rebuilt(tmp_path: Path) -> None:
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    path = partition.log.directory / "leader-epoch-checkpoint"
    before = path.read_bytes()
    partition.close()
    path.unlink()
    assert open_partition(log_dir, static_voters=THREE).warnings == []
    assert path.read_bytes() == before


def test_a_directory_without_recovery_point_is_adopted(tmp_path: Path) -> None:
    """A directory of Kafka, or of an older version."""
    log_dir = tmp_path / "data"
    live(log_dir).close()
    (log_dir / FILE_NAME).unlink()
    partition = open_partition(log_dir, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])
    point = read_recovery_point(log_dir)
    assert point is not None
    assert (point.quorum_epoch, point.voted_id, point.log_epoch, point.end_offset) == (2, 3, 2, 30)


def garble_quorum_state(log_dir: Path) -> None:
    (log_dir / PARTITION_DIRECTORY / "quorum-state").write_text("{")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(flip(0, 70, 0x01), id="log"),
        pytest.param(garble_quorum_state, id="quorum-state"),
    ],
)
def test_the_advice_is_right_for_a_directory_that_was_never_adopted(tmp_path: Path, damage: Damage) -> None:
    """Its first start is refused; a log moved away after that must be noticed."""
    log_dir = tmp_path / "data"
    live(log_dir).close()
    (log_dir / FILE_NAME).unlink()
    damage(log_dir)
    with pytest.raises(StorageError, match="move only __cluster_metadata-0 away"):
        open_partition(log_dir, static_voters=THREE)
    lose_the_directory(log_dir)
    assert open_partition(log_dir, static_voters=THREE).recovering_epoch is not None


def write_tail_out_of_order(log_dir: Path) -> Path:
    """Punch a hole, as a power failure may leave in unflushed bytes; returns the segment."""
    partition = live(log_dir)
    for offset in range(30, 45):
        partition.log.append(batch(offset, 2))
    partition.log.flush()  # written, but not yet noted in the recovery point
    path = segment(log_dir, 30)
    content = bytearray(path.read_bytes())
    content[3 * BATCH_BYTES : 4 * BATCH_BYTES] = bytes(BATCH_BYTES)
    path.write_bytes(content)
    return path


@pytest.mark.prevents("contradicting-files")
def test_a_tail_written_back_out_of_order_is_cut(tmp_path: Path) -> None:
    """Intact batches follow the hole; none of them was flushed, so none was acknowledged."""
    log_dir = tmp_path / "data"
    path = write_tail_out_of_order(log_dir)
    partition = open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
    assert partition.log.end_offset == 33
    cut_tail = partition.log.recovery.cut_tail
    assert cut_tail is not None
    assert (cut_tail.file, cut_tail.position) == (str(path), 3 * BATCH_BYTES)
    assert str(segment(log_dir, 40)) in partition.log.recovery.removed_files


@pytest.mark.prevents("half-recorded-election")
def test_a_tail_out_of_order_is_cut_when_power_fails_between_two_writes_of_an_election(
    tmp_path: Path,
) -> None:
    """quorum-state has the new epoch, the recovery point does not; no batch shows that Kafka wrote it."""
    log_dir = tmp_path / "data"
    write_tail_out_of_order(log_dir)
    QuorumStateStore(log_dir / PARTITION_DIRECTORY).write(ElectionState(epoch=3, data_version=1))
    partition = open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
    assert partition.log.end_offset == 33
    partition.close()
    partition = open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
    assert (partition.log.end_offset, partition.warnings) == (33, [])


def test_without_recovery_point_the_same_tail_is_refused(tmp_path: Path) -> None:
    """It is unknown how far the log was flushed."""
    log_dir = tmp_path / "data"
    path = write_tail_out_of_order(log_dir)
    (log_dir / FILE_NAME).unlink()
    with pytest.raises(CorruptLogError, match=path.name):
        open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)


def _as_kafka_would(log_dir: Path, base_offset: int, epoch: int, count: int) -> None:
    """Batches at the end of a segment, and the epoch in both of the files that Kafka keeps."""
    directory = log_dir / PARTITION_DIRECTORY
    with segment(log_dir, 20).open("ab") as file:
        for offset in range(base_offset, base_offset + count):
            file.write(batch(offset, epoch))
    entries = ["1 0", "2 10"] if epoch == 2 else ["1 0", "2 10", f"{epoch} {base_offset}"]
    lines = ["0", str(len(entries)), *entries]
    (directory / "leader-epoch-checkpoint").write_text("\n".join(lines) + "\n")
    QuorumStateStore(directory).write(ElectionState(epoch=epoch, leader_id=2, data_version=1))


@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "killed"])
def test_kafka_may_truncate_and_append_in_between(tmp_path: Path, stops: bool) -> None:
    """Its log ends earlier than ours did, in a later epoch: that is a longer log."""
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    if stops:
        partition.close()
    cut(20, 5 * BATCH_BYTES)(log_dir)
    _as_kafka_would(log_dir, 25, 3, 2)
    partition = open_partition(log_dir, static_voters=THREE)
    assert (partition.recovering_epoch, partition.warnings) == (None, [])
    assert (partition.log.end_offset, partition.log.last_epoch) == (27, 3)


@pytest.mark.parametrize(
    ("stops", "epoch"),
    [pytest.param(True, 2, id="after-a-clean-stop"), pytest.param(False, 3, id="in-a-later-epoch")],
)
def test_what_kafka_appended_is_not_cut_for_a_hole(tmp_path: Path, stops: bool, epoch: int) -> None:
    """The recovery point does not cover it: damage with intact batches after it is refused."""
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    if stops:
        partition.close()
    _as_kafka_would(log_dir, 30, epoch, 5)
    flip(20, 12 * BATCH_BYTES + 70, 0x01)(log_dir)
    with pytest.raises(CorruptLogError, match=r"offset 32"):
        open_partition(log_dir, static_voters=THREE)


def test_a_snapshot_that_was_to_replace_the_log_still_does(tmp_path: Path) -> None:
    """A crash between the name of a downloaded snapshot and the end of the log."""
    log_dir = tmp_path / "data"
    partition = live(log_dir)
    content = SnapshotBatches(3, 0)
    partition.write_quorum_state(ElectionState(epoch=3, leader_id=2, data_version=1))
    partition.write_snapshot(OffsetAndEpoch(25, 3), [content.header(0), content.footer()])
    partition = open_partition(log_dir, static_voters=THREE)
    assert (partition.recovering_epoch, partition.log.start_offset, partition.log.end_offset) == (
        None,
        25,
        25,
    )


def _files(log_dir: Path) -> dict[Path, bytes]:
    """Without the indexes, which are made again."""
    paths = [path for path in log_dir.rglob("*") if path.is_file() and "index" not in path.name]
    return {path.relative_to(log_dir): path.read_bytes() for path in paths}


@pytest.mark.prevents("refused-without-reason")
def test_a_crash_while_a_snapshot_of_an_earlier_epoch_replaces_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log has a tail of a later epoch that was never committed. The snapshot has all that is."""
    partition = live(tmp_path / "data")
    partition.write_quorum_state(ElectionState(epoch=3, leader_id=2, data_version=1))
    content = SnapshotBatches(1, 0)
    partition.write_snapshot(OffsetAndEpoch(35, 1), [content.header(0), content.footer()])
    crashes = [_files(tmp_path / "data")]
    unlink = Path.unlink

    def unlink_and_look(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        crashes.append(_files(tmp_path / "data"))

    monkeypatch.setattr(Path, "unlink", unlink_and_look)
    partition.start_over_at(OffsetAndEpoch(35, 1))
    monkeypatch.undo()
    assert len(crashes) > 9
    for at, files in enumerate(crashes):
        log_dir = tmp_path / f"after-{at}"
        for path, data in files.items():
            (log_dir / path).parent.mkdir(parents=True, exist_ok=True)
            (log_dir / path).write_bytes(data)
        partition = open_partition(log_dir, segment_bytes=SEGMENT_BYTES, static_voters=THREE)
        log = partition.log
        assert (partition.recovering_epoch, log.start_offset, log.end_offset) == (None, 35, 35)
        assert log.last_epoch == 1
