"""What is known to be committed is known after a start, too, and nothing below it is truncated.

Kafka's controller does not know the recovery point: it may use the directory in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.halt import HaltedError, HaltFile
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.recovery_point import FILE_NAME, read_recovery_point
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import uuid_from_string
from tests.storage.batches import batch
from tests.support.partitions import DIRECTORY_ID, kill, open_partition

THREE = VoterSet([VoterNode(ReplicaKey(node_id), {}) for node_id in (1, 2, 3)])
OTHER_ID = uuid_from_string("TzUHEs1aSdqvjJVJ7jWF2w")
COMMITTED = 20


def opened(log_dir: Path) -> MetadataPartition:
    return open_partition(log_dir, static_voters=THREE, segment_bytes=10 * len(batch(0)))


def append(partition: MetadataPartition, start: int, end: int, epoch: int) -> None:
    partition.write_quorum_state(ElectionState(epoch=epoch, data_version=1))
    for offset in range(start, end):
        partition.log.append(batch(offset, epoch))
        partition.flush()


def used(log_dir: Path) -> MetadataPartition:
    """Offsets 0 to 9 in epoch 1, 10 to 29 in epoch 2, of which 20 are committed; still running."""
    partition = opened(log_dir)
    append(partition, 0, 10, epoch=1)
    append(partition, 10, 29, epoch=2)
    partition.note_committed(COMMITTED)
    append(partition, 29, 30, epoch=2)
    return partition


def noted(log_dir: Path) -> tuple[int, int]:
    point = read_recovery_point(log_dir)
    assert point is not None
    return point.committed_epoch, point.committed_end


# What is written.


@pytest.mark.parametrize("end", [MetadataPartition.close, kill], ids=["stopped", "killed"])
def test_it_is_known_after_any_end(tmp_path: Path, end: Callable[[MetadataPartition], None]) -> None:
    partition = used(tmp_path)
    assert noted(tmp_path) == (2, COMMITTED)
    end(partition)
    for _ in range(2):
        partition = opened(tmp_path)
        assert partition.committed_end == COMMITTED
        assert noted(tmp_path) == (2, COMMITTED)
        end(partition)


def test_a_stop_notes_what_was_committed_last(tmp_path: Path) -> None:
    partition = used(tmp_path)
    partition.note_committed(25)
    assert noted(tmp_path) == (2, COMMITTED), "the next flush writes it"
    partition.close()
    assert noted(tmp_path) == (2, 25)


def test_what_is_not_flushed_is_not_noted(tmp_path: Path) -> None:
    """Others have it on disk, so it is committed; here a power failure may still take it."""
    partition = used(tmp_path)
    partition.log.append(batch(30, 2))
    partition.note_committed(31)
    partition._note_durable()
    assert noted(tmp_path) == (2, 30)
    partition.flush()
    assert noted(tmp_path) == (2, 31)


def test_a_lower_high_watermark_changes_nothing(tmp_path: Path) -> None:
    partition = used(tmp_path)
    partition.note_committed(3)
    partition.close()
    assert noted(tmp_path) == (2, COMMITTED)


@pytest.mark.prevents("restart-drops-committed")
def test_nothing_below_it_is_truncated(tmp_path: Path) -> None:
    used(tmp_path).close()
    partition = opened(tmp_path)
    with pytest.raises(AssertionError, match="nothing that is committed is truncated"):
        partition.truncate_log(COMMITTED - 1)
    assert (partition.log.end_offset, noted(tmp_path)) == (30, (2, COMMITTED))
    partition.truncate_log(COMMITTED)
    assert (partition.log.end_offset, noted(tmp_path)) == (COMMITTED, (2, COMMITTED))


# Kafka's controller in between.

Use = Callable[[MetadataPartition], None]


def appends_in_the_same_epoch(partition: MetadataPartition) -> None:
    append(partition, 30, 35, epoch=2)


def appends_in_a_later_epoch(partition: MetadataPartition) -> None:
    append(partition, 30, 35, epoch=3)


def truncates_above_it(partition: MetadataPartition) -> None:
    partition.truncate_log(COMMITTED)
    append(partition, COMMITTED, 25, epoch=3)


def replaces_what_was_committed(partition: MetadataPartition) -> None:
    partition.truncate_log(COMMITTED - 1)
    append(partition, COMMITTED - 1, 40, epoch=3)


def drops_what_was_committed(partition: MetadataPartition) -> None:
    partition.truncate_log(5)
    append(partition, 5, 8, epoch=3)


def drops_everything(partition: MetadataPartition) -> None:
    partition.truncate_log(0)
    append(partition, 0, 3, epoch=3)


def snapshot(partition: MetadataPartition, offset: int, epoch: int) -> OffsetAndEpoch:
    snapshot_id = OffsetAndEpoch(offset, epoch)
    batches = SnapshotBatches(epoch, 1)
    partition.write_snapshot(snapshot_id, [batches.header(1, 0, None), batches.footer()])
    return snapshot_id


def trims_the_log(partition: MetadataPartition) -> None:
    snapshot(partition, 10, 1)
    snapshot(partition, 25, 2)
    partition.clean(1, 0, -1)


def starts_over_after_it(partition: MetadataPartition) -> None:
    partition.write_quorum_state(ElectionState(epoch=3, data_version=1))
    partition.start_over_at(snapshot(partition, 50, 3))


def starts_over_before_it(partition: MetadataPartition) -> None:
    partition.write_quorum_state(ElectionState(epoch=3, data_version=1))
    partition.start_over_at(snapshot(partition, 12, 3))


def by_kafka(log_dir: Path, use: Use) -> None:
    """It leaves the recovery point as it is, and deletes the witness."""
    promised = (log_dir / FILE_NAME).read_bytes()
    (log_dir / FILE_NAME).unlink()
    partition = opened(log_dir)
    use(partition)
    partition.close()
    (log_dir / FILE_NAME).write_bytes(promised)
    (log_dir / PARTITION_DIRECTORY / WITNESS).unlink()


@pytest.mark.parametrize("end", [MetadataPartition.close, kill], ids=["stopped", "killed"])
@pytest.mark.parametrize(
    "use",
    [
        appends_in_the_same_epoch,
        appends_in_a_later_epoch,
        truncates_above_it,
        trims_the_log,
        starts_over_after_it,
    ],
)
def test_it_is_still_true_after_another_controller(
    tmp_path: Path, use: Use, end: Callable[[MetadataPartition], None]
) -> None:
    end(used(tmp_path))
    by_kafka(tmp_path, use)
    partition = opened(tmp_path)
    assert (partition.committed_end, partition.warnings) == (COMMITTED, [])


@pytest.mark.parametrize("end", [MetadataPartition.close, kill], ids=["stopped", "killed"])
@pytest.mark.parametrize(
    "use",
    [replaces_what_was_committed, drops_what_was_committed, drops_everything, starts_over_before_it],
)
def test_it_is_stale_where_another_controller_has_replaced_the_records(
    tmp_path: Path, use: Use, end: Callable[[MetadataPartition], None]
) -> None:
    """To hold to it would keep records that no other voter has; but the operator has to know."""
    end(used(tmp_path))
    by_kafka(tmp_path, use)
    partition = opened(tmp_path)
    (line,) = partition.losses
    assert "everything up to offset 20 in epoch 2 was committed" in line
    assert line.startswith("Another controller has truncated committed records")
    assert ". This line is written once. Next step: copy the directories of all voters now" in line
    assert (partition.committed_end, noted(tmp_path)) == (0, (0, 0))
    partition.close()
    assert opened(tmp_path).losses == partition.warnings == []


def test_a_log_that_was_changed_without_another_controller_is_refused(tmp_path: Path) -> None:
    used(tmp_path).close()
    by_kafka(tmp_path, replaces_what_was_committed)
    witness = tmp_path / PARTITION_DIRECTORY / WITNESS
    opened(tmp_path / "other").close()
    witness.write_bytes((tmp_path / "other" / PARTITION_DIRECTORY / WITNESS).read_bytes())
    for _ in range(2):
        with pytest.raises(StorageError, match=r"up to offset 20 .* the log was changed\. Next step"):
            opened(tmp_path)


# What else may have been lost.


def test_a_replica_that_lost_its_votes_keeps_it(tmp_path: Path) -> None:
    used(tmp_path).close()
    (tmp_path / PARTITION_DIRECTORY / WITNESS).unlink()
    (tmp_path / PARTITION_DIRECTORY / "quorum-state").unlink()
    for _ in range(2):
        partition = opened(tmp_path)
        assert partition.recovering_epoch is not None
        assert partition.committed_end == COMMITTED
        partition.close()


def test_a_replica_that_lost_its_log_begins_again(tmp_path: Path) -> None:
    used(tmp_path).close()
    (tmp_path / PARTITION_DIRECTORY).rename(tmp_path.with_name("moved-away"))
    partition = opened(tmp_path)
    assert partition.recovering_epoch is not None
    assert (partition.committed_end, noted(tmp_path)) == (0, (0, 0))


def test_with_another_directory_id_the_log_is_the_same(tmp_path: Path) -> None:
    """What is committed is a fact about the log, not about the replica."""
    used(tmp_path).close()
    partition = MetadataPartition.open(
        tmp_path, ReplicaKey(1, OTHER_ID), now_ms=lambda: 0, static_voters=THREE
    )
    assert partition.recovering_epoch is not None
    assert partition.committed_end == COMMITTED


# The halt.


def halted(log_dir: Path) -> HaltFile:
    partition = used(log_dir)
    with pytest.raises(HaltedError, match=r"This controller halts, and each start will end here .*: Why\."):
        partition.halt("Why.", 1_800_000_000_000)
    partition.close()
    return HaltFile(log_dir, DIRECTORY_ID)


@pytest.mark.prevents("restart-drops-committed")
def test_each_start_says_since_when_and_why_and_writes_nothing(tmp_path: Path) -> None:
    file = halted(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for _ in range(3):
        with pytest.raises(
            HaltedError, match=r"halted since 2027-01-15T08:00:00Z \(.*metadata-halted\): Why\."
        ):
            opened(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    file.remove()
    assert opened(tmp_path).committed_end == COMMITTED


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"version=9\n", b"since=\nreason=\n", b"reason=x"])
def test_a_halt_that_cannot_be_read_is_one(tmp_path: Path, content: bytes) -> None:
    used(tmp_path).close()
    (tmp_path / HALT_FILE).write_bytes(content)
    with pytest.raises(HaltedError, match="halted since an unknown time"):
        opened(tmp_path)


def test_a_halt_that_cannot_be_written_ends_the_process_even_so(tmp_path: Path) -> None:
    """What is committed is on the disk before: the next process halts again, once it has a leader."""
    (tmp_path / f"{HALT_FILE}.tmp").mkdir(parents=True)
    partition = used(tmp_path)
    partition.note_committed(28)
    with pytest.raises(
        HaltedError,
        match=r"This controller halts: Why\. The halt could not be written down: cannot write .*-halted",
    ):
        partition.halt("Why.", 0)
    assert noted(tmp_path) == (2, 28)


def test_a_halt_is_one_where_what_is_committed_cannot_be_noted(tmp_path: Path) -> None:
    """The disk is full: the file of the halt is new, and may still find room."""
    partition = used(tmp_path)
    full = os.open("/dev/full", os.O_RDWR)
    os.dup2(full, partition.recovery_point._descriptor)
    os.close(full)
    partition.note_committed(28)
    both = (
        r"Why\. What is committed could not be written down: cannot write .*metadata-recovery-point: No space"
    )
    with pytest.raises(HaltedError, match=rf"This controller halts, .*: {both}"):
        partition.halt("Why.", 0)
    with pytest.raises(HaltedError, match=both):
        opened(tmp_path)


def test_a_directory_that_was_formatted_anew_has_not_halted(tmp_path: Path) -> None:
    """Without the log of the earlier replica; with it, its halt counts."""
    halted(tmp_path)
    other = HaltFile(tmp_path, OTHER_ID)
    with pytest.raises(HaltedError):
        other.refuse()
    (tmp_path / PARTITION_DIRECTORY).rename(tmp_path.with_name("moved-away-too"))
    (line,) = other.refuse()
    assert line.endswith("metadata-halted.former")
    assert (tmp_path / f"{HALT_FILE}.former").exists()


def test_the_halt_of_an_earlier_replica_does_not_return(tmp_path: Path) -> None:
    halted(tmp_path)
    (tmp_path / PARTITION_DIRECTORY).rename(tmp_path.with_name("moved-away-three"))
    (tmp_path / FILE_NAME).unlink()
    for notices in (1, 0, 0):
        partition = MetadataPartition.open(
            tmp_path, ReplicaKey(1, OTHER_ID), now_ms=lambda: 0, static_voters=THREE
        )
        assert sum("metadata-halted.former" in line for line in partition.notices) == notices
        append(partition, partition.log.end_offset, partition.log.end_offset + 5, epoch=3)
        partition.close()
