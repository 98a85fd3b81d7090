"""Checkpoint files are complete or absent; the partition directory is consistent at start."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import RECORDS_PER_BATCH_MAX, SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, checkpoint_file_name
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.storage.batches import batch
from tests.support.partitions import open_partition

DATA = Path(__file__).parents[1] / "data" / "kafka-4.3.1"
JAVA_SNAPSHOT = DATA / "00000000000000001643-0000000001.checkpoint"
JAVA_BOOTSTRAP_SNAPSHOT = (
    DATA / "formatted" / PARTITION_DIRECTORY / "00000000000000000000-0000000000.checkpoint"
)
SNAPSHOT_ID = OffsetAndEpoch(20, 1)


def _content(epoch: int = 1, records: int = 1, timestamp_ms: int = 5_000) -> list[bytes]:
    batches = SnapshotBatches(epoch, 6_000)
    items = [RecordAndVersion(NoOpRecord(), 0)] * records
    return [batches.header(timestamp_ms), *batches.records(items), batches.footer()]


def test_java_snapshot_is_read() -> None:
    reader = CheckpointReader(JAVA_SNAPSHOT)
    header = reader.header()
    assert (header.last_contained_log_timestamp_ms, header.kraft_version) == (1795246525103, 1)
    assert header.voters is not None
    records = list(reader.records())
    assert len(records) == 68
    assert records[0].record.NAME == "FeatureLevelRecord"


@pytest.mark.parametrize("path", [JAVA_SNAPSHOT, JAVA_BOOTSTRAP_SNAPSHOT], ids=["snapshot", "0-0"])
def test_rewritten_java_snapshot_is_the_same_bytes(path: Path) -> None:
    java = path.read_bytes()
    first = read_batches(java)[0].header
    header = CheckpointReader(path).header()
    ours = SnapshotBatches(first.partition_leader_epoch, first.base_timestamp_ms)
    rewritten = ours.header(header.last_contained_log_timestamp_ms, header.kraft_version, header.voters)
    assert rewritten == java[: first.size_bytes]
    rest = b"".join([*ours.records(CheckpointReader(path).records()), ours.footer()])
    assert len(rewritten) + len(rest) == len(java)


def test_write_and_read_back(tmp_path: Path) -> None:
    store = SnapshotStore.open(tmp_path)
    content = _content(records=2 * RECORDS_PER_BATCH_MAX + 1)
    assert len(content) == 5
    info = store.write(SNAPSHOT_ID, content)
    assert info.size_bytes == len(b"".join(content))
    path = store.path(SNAPSHOT_ID)
    assert path.name == "00000000000000000020-0000000001.checkpoint"
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert store.read_slice(SNAPSHOT_ID, 10, 20) == b"".join(content)[10:30]
    assert store.read_slice(SNAPSHOT_ID, info.size_bytes, 20) == b""
    assert len(list(store.reader(SNAPSHOT_ID).records())) == 2 * RECORDS_PER_BATCH_MAX + 1
    assert [one.snapshot_id for one in SnapshotStore.open(tmp_path).infos()] == [SNAPSHOT_ID]


def test_interrupted_write_leaves_nothing_after_the_next_start(tmp_path: Path) -> None:
    store = SnapshotStore.open(tmp_path)
    store.writer(SNAPSHOT_ID).append(b"half")
    (tmp_path / checkpoint_file_name(SNAPSHOT_ID, ".checkpoint.deleted")).write_bytes(b"")
    assert store.ids() == []
    again = SnapshotStore.open(tmp_path)
    assert (again.ids(), len(again.removed_files), list(tmp_path.iterdir())) == ([], 2, [])


def test_download_in_slices_is_verified_before_it_exists(tmp_path: Path) -> None:
    whole = JAVA_SNAPSHOT.read_bytes()
    snapshot_id = OffsetAndEpoch(1643, 1)
    store = SnapshotStore.open(tmp_path)
    writer = store.writer(snapshot_id)
    for at in range(0, len(whole), 1000):
        assert writer.size_bytes == at
        writer.append(whole[at : at + 1000])
    writer.verify()
    writer.freeze()
    assert store.add(writer).size_bytes == len(whole)
    assert store.path(snapshot_id).read_bytes() == whole


@pytest.mark.parametrize("cut", [0, 1, 75, 5000])
def test_bad_download_is_given_up(tmp_path: Path, cut: int) -> None:
    whole = bytearray(JAVA_SNAPSHOT.read_bytes())
    if cut == 0:
        whole[3000] ^= 1
    store = SnapshotStore.open(tmp_path)
    writer = store.writer(OffsetAndEpoch(1643, 1))
    writer.append(bytes(whole[: len(whole) - cut]))
    with pytest.raises(StorageError, match="damaged"):
        writer.verify()
    writer.abort()
    assert (store.ids(), list(tmp_path.iterdir())) == ([], [])


def test_full_disk_leaves_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SnapshotStore.open(tmp_path)

    def full(descriptor: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StorageError, match="No space left"):
            store.write(SNAPSHOT_ID, _content())
    assert (store.ids(), list(tmp_path.iterdir())) == ([], [])


def test_cut_or_flipped_snapshot_is_refused(tmp_path: Path) -> None:
    whole = b"".join(_content())
    path = tmp_path / "x.checkpoint"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(StorageError, match=r"x\.checkpoint"):
            list(CheckpointReader(path).batches())
    for position in range(21, len(_content()[0])):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(StorageError, match="CRC"):
            list(CheckpointReader(path).batches())


def _partition_with_log(log_dir: Path, batches: int = 20) -> MetadataPartition:
    partition = open_partition(log_dir, segment_bytes=400)
    partition.write_quorum_state(ElectionState(epoch=2, data_version=1))
    for offset in range(batches):
        partition.log.append(batch(offset))
    partition.log.flush()
    return partition


def test_partition_of_a_new_node(tmp_path: Path) -> None:
    partition = open_partition(tmp_path)
    state = partition.log_state()
    assert (state.start_offset, state.end_offset, state.snapshots) == (0, 0, [])
    assert partition.read_quorum_state() is None


def test_partition_formatted_by_java_starts_empty(tmp_path: Path) -> None:
    directory = tmp_path / PARTITION_DIRECTORY
    directory.mkdir()
    (directory / JAVA_BOOTSTRAP_SNAPSHOT.name).write_bytes(JAVA_BOOTSTRAP_SNAPSHOT.read_bytes())
    state = open_partition(tmp_path).log_state()
    assert (state.end_offset, [info.snapshot_id for info in state.snapshots]) == (0, [OffsetAndEpoch(0, 0)])


def test_snapshot_beyond_the_log_replaces_it(tmp_path: Path) -> None:
    """A crash between the rename of a fetched snapshot and the truncation of the log."""
    partition = _partition_with_log(tmp_path)
    partition.write_snapshot(OffsetAndEpoch(100, 1), _content())
    partition.close()
    partition = open_partition(tmp_path)
    assert (partition.log.start_offset, partition.log.end_offset, partition.log.last_epoch) == (100, 100, 1)
    assert any("newer than the log" in notice for notice in partition.notices)
    partition.close()
    partition = open_partition(tmp_path)
    assert (partition.log.end_offset, partition.log.last_epoch, partition.warnings) == (100, 1, [])


def test_snapshot_of_a_later_epoch_replaces_a_longer_log(tmp_path: Path) -> None:
    partition = _partition_with_log(tmp_path)
    partition.write_snapshot(OffsetAndEpoch(10, 2), _content(epoch=2))
    partition.close()
    assert open_partition(tmp_path).log.end_offset == 10


@pytest.mark.prevents("KAFKA-14240")
def test_log_start_without_snapshot_is_refused(tmp_path: Path) -> None:
    """KAFKA-14240."""
    partition = _partition_with_log(tmp_path)
    partition.log.delete_segments_before(10)
    partition.close()
    with pytest.raises(StorageError, match="no snapshot covers"):
        open_partition(tmp_path)


def test_retention_by_size_keeps_the_newest_snapshot(tmp_path: Path) -> None:
    partition = _partition_with_log(tmp_path)
    for offset in (5, 10, 15):
        partition.write_snapshot(OffsetAndEpoch(offset, 1), _content())
    assert partition.clean(0, retention_bytes=-1, retention_ms=-1) is None
    cleaned = partition.clean(0, retention_bytes=1, retention_ms=-1)
    assert cleaned is not None
    assert cleaned.start_offset == 15
    assert partition.snapshots.ids() == [OffsetAndEpoch(15, 1)]
    partition.close()
    assert open_partition(tmp_path).log.end_offset == 20


def test_the_log_starts_at_the_snapshot_that_is_held(tmp_path: Path) -> None:
    """After a start it begins with a segment, maybe before the snapshot: the epoch there is not known."""
    partition = _partition_with_log(tmp_path)
    for offset in (5, 10, 15):
        partition.write_snapshot(OffsetAndEpoch(offset, 1), _content())
    assert partition.log.start_offset == 0
    cleaned = partition.clean(0, retention_bytes=1, retention_ms=-1, held=[OffsetAndEpoch(5, 1)])
    assert cleaned == (5, [OffsetAndEpoch(10, 1)])
    assert partition.snapshots.ids() == [OffsetAndEpoch(5, 1), OffsetAndEpoch(15, 1)]
    assert (partition.log.start_offset, partition.log.epoch_at(4)) == (5, 1)


@pytest.mark.prevents("refused-without-reason")
def test_a_log_cut_back_to_its_start_ends_in_the_epoch_of_the_snapshot(tmp_path: Path) -> None:
    """Records that a deposed leader wrote after the snapshot are gone, and with them its epoch."""
    partition = open_partition(tmp_path)
    for offset in range(20):
        partition.log.append(batch(offset, epoch=1 if offset < 10 else 3))
    partition.flush()
    for offset in (5, 10):
        partition.write_snapshot(OffsetAndEpoch(offset, 1), _content())
    cleaned = partition.clean(0, retention_bytes=1, retention_ms=-1)
    assert cleaned is not None
    assert cleaned.start_offset == 10
    partition.truncate_log(10)
    assert (partition.log.end_offset, partition.log.last_epoch) == (10, 1)
    partition.close()
    partition = open_partition(tmp_path)
    partition.log.append(batch(10, epoch=2))
    partition.close()
    assert open_partition(tmp_path).log.end_offset == 11


def test_retention_by_time_goes_by_the_snapshot_header(tmp_path: Path) -> None:
    partition = _partition_with_log(tmp_path)
    partition.write_snapshot(OffsetAndEpoch(5, 1), _content(timestamp_ms=1_000))
    partition.write_snapshot(OffsetAndEpoch(10, 1), _content(timestamp_ms=2_000))
    partition.write_snapshot(OffsetAndEpoch(15, 1), _content(timestamp_ms=3_000))
    cleaned = partition.clean(2_500, retention_bytes=-1, retention_ms=1_000)
    assert cleaned is not None
    assert cleaned.start_offset == 10
    assert partition.snapshots.ids() == [OffsetAndEpoch(10, 1), OffsetAndEpoch(15, 1)]
