"""The directory of a controller as an exporter sees it, while the controller changes it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_observer import segment_file
from kraftctl_observer.directory_reader import DamagedLogError, DirectoryReader
from kraftctl_observer.log_reader import (
    LogChangedError,
    ObserverError,
    OffsetsGoneError,
    WrongClusterError,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch
from tests.spark.log_directory import CLUSTER_ID, NO_OP, NODE_ID, LogDirectory


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[LogDirectory]:
    made = LogDirectory(tmp_path / "data")
    yield made
    made.close()


def reader_of(directory: LogDirectory, *, assume_committed: bool = False) -> DirectoryReader:
    return DirectoryReader(directory.path, assume_committed=assume_committed)


def offsets_read(reader: DirectoryReader, start: int, end: int, epoch: int = 1) -> list[int]:
    found = [record.offset for batch in reader.read(start, epoch, end) for record in batch.records]
    return [offset for offset in found if start <= offset < end]


def content(directory: LogDirectory) -> dict[str, tuple[bytes, int]]:
    files = [path for path in sorted(directory.path.rglob("*")) if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_reads_every_range_of_several_segments(directory: LogDirectory) -> None:
    directory.append(700)
    assert len(directory.segments()) >= 4
    reader = reader_of(directory)
    assert reader.position(0, 0).high_watermark == 700
    for start in range(0, 700, 13):
        for end in (start + 1, start + 50, 700):
            assert offsets_read(reader, start, min(end, 700)) == list(range(start, min(end, 700)))


def test_leaves_the_directory_as_it_is(directory: LogDirectory) -> None:
    directory.append(300)
    directory.checkpoint(150)
    before = content(directory)
    reader = reader_of(directory)
    assert reader.position(0, 0).high_watermark == 300
    assert offsets_read(reader, 0, 300) == list(range(300))
    assert list(reader.read_snapshot(OffsetAndEpoch(150, 1)))
    reader.close()
    assert content(directory) == before


def test_follows_a_segment_that_grows(directory: LogDirectory) -> None:
    reader = reader_of(directory)
    assert reader.position(0, 0).high_watermark == 0
    for _ in range(200):
        directory.append(7, size=2)
        assert reader.position(directory.end_offset - 7, 1).high_watermark == directory.end_offset
    assert offsets_read(reader, 0, directory.end_offset) == list(range(directory.end_offset))


def test_a_batch_that_is_being_written_is_not_there_yet(directory: LogDirectory) -> None:
    directory.append(30)
    reader = reader_of(directory)
    batch = encode_batch(30, 1, 1000, [NO_OP] * 5)
    for written in range(len(batch)):
        with directory.segments()[-1].open("ab") as segment:
            assert reader.position(30, 1).high_watermark == 30
            assert reader_of(directory).position(30, 1).high_watermark == 30
            segment.write(batch[written : written + 1])
    assert reader.position(30, 1).high_watermark == 35
    assert offsets_read(reader, 28, 35) == list(range(28, 35))


def test_a_tail_that_never_was_finished(directory: LogDirectory) -> None:
    """After a crash: zeros, or a batch whose bytes did not all reach the disk."""
    directory.append(30)
    torn = bytearray(encode_batch(30, 1, 1000, [NO_OP] * 5))
    torn[-3] ^= 1
    for rubbish in (bytes(4096), bytes(torn)):
        intact = directory.segments()[-1].read_bytes()
        directory.segments()[-1].write_bytes(intact + rubbish)
        reader = reader_of(directory)
        assert reader.position(0, 0).high_watermark == 30
        assert offsets_read(reader, 0, 30) == list(range(30))
        directory.segments()[-1].write_bytes(intact)


def test_the_oldest_checkpoint_that_the_log_continues_replaces_what_was_deleted(
    directory: LogDirectory,
) -> None:
    directory.append(900)
    reader = reader_of(directory)
    assert reader.position(0, 0).snapshot is None
    for offset in (300, 600, 801):
        directory.checkpoint(offset)
    assert reader.position(0, 0).snapshot is None, "a whole log is read itself"
    directory.clean_before(600)
    assert reader.position(0, 0).snapshot == OffsetAndEpoch(600, 1)
    assert reader.position(299, 1).snapshot == OffsetAndEpoch(600, 1)
    assert reader.position(600, 1).snapshot is None
    with pytest.raises(OffsetsGoneError, match="offset 100 has been deleted"):
        offsets_read(reader, 100, 900)
    with pytest.raises(OffsetsGoneError, match="deleted"):
        list(reader.read_snapshot(OffsetAndEpoch(300, 1)))
    batches = list(reader.read_snapshot(OffsetAndEpoch(600, 1)))
    assert sum(len(batch.records) for batch in batches) == 4
    assert offsets_read(reader, 600, 900) == list(range(600, 900))


def test_segments_deleted_while_they_are_read(directory: LogDirectory) -> None:
    directory.append(900)
    directory.checkpoint(801)
    reader = reader_of(directory)
    batches = reader.read(0, 1, 900)
    first = next(batches)
    directory.clean_before(801)
    with pytest.raises(OffsetsGoneError):
        list(batches)
    assert first.header.base_offset == 0
    assert reader.position(first.header.last_offset + 1, 1).snapshot == OffsetAndEpoch(801, 1)


def test_a_log_that_begins_later_and_has_no_checkpoint(directory: LogDirectory) -> None:
    directory.append(600)
    directory.segments()[0].unlink()
    with pytest.raises(OffsetsGoneError, match="has no checkpoint of the records before"):
        reader_of(directory).position(0, 0)


def test_a_follower_that_fetched_a_snapshot_beyond_its_log(directory: LogDirectory) -> None:
    """The log is empty until the next records arrive, or still the old one if it crashed in between."""
    directory.append(100)
    directory.checkpoint(500, epoch=3)
    reader = reader_of(directory)
    for _ in range(2):
        position = reader.position(40, 1)
        assert (position.snapshot, position.high_watermark) == (OffsetAndEpoch(500, 3), 500)
        assert reader.position(500, 3).snapshot is None
        directory.start_at(500, epoch=3)
    directory.append(10, epoch=3)
    assert reader.position(500, 3).high_watermark == 510
    assert offsets_read(reader, 500, 510, epoch=3) == list(range(500, 510))


@pytest.mark.parametrize(
    ("voters", "dynamic", "reason"),
    [
        pytest.param([NODE_ID, 3001, 3002], False, "there are 3 voters", id="static"),
        pytest.param([NODE_ID, 3001, 3002], True, "there are 3 voters", id="dynamic"),
        pytest.param(
            [3001], False, "node 3001 is the voter, and this is the directory of node 3000", id="observer"
        ),
        pytest.param([], False, "the voters are not known", id="unknown"),
    ],
)
def test_what_may_not_be_committed_is_held_back(
    directory: LogDirectory, caplog: pytest.LogCaptureFixture, voters: list[int], dynamic: bool, reason: str
) -> None:
    directory.static_voters(voters)
    if dynamic:
        directory.append_voters(voters)
    directory.append(100 - directory.end_offset)
    reader = reader_of(directory)
    with caplog.at_level(logging.INFO):
        assert reader.position(0, 0).high_watermark == 0
        assert reader.position(0, 0).high_watermark == 0
    (logged,) = caplog.messages
    assert "100 offsets from 0 on are held back: " + reason in logged
    directory.checkpoint(61, voters=voters if dynamic else ())
    assert reader.position(0, 0).high_watermark == 61
    assert reader.position(80, 1).high_watermark == 80, "what was read once counts as committed"
    assert reader_of(directory, assume_committed=True).position(0, 0).high_watermark == 100


def test_the_only_voter_knows_what_is_committed(directory: LogDirectory) -> None:
    """KIP-853: the newest VotersRecord counts, in the checkpoint or after it."""
    directory.static_voters([1, 2, 3])
    directory.append_voters([NODE_ID])
    directory.append(99)
    reader = reader_of(directory)
    assert reader.position(0, 0).high_watermark == 100
    directory.append_voters([NODE_ID, 3001])
    assert reader.position(0, 0).high_watermark == 0
    directory.append_voters([NODE_ID])
    assert reader.position(0, 0).high_watermark == 102
    directory.checkpoint(102, voters=[NODE_ID])
    directory.append(10)
    directory.clean_before(102)
    assert reader_of(directory).position(102, 1).high_watermark == 112


def test_a_log_that_lost_its_end(directory: LogDirectory) -> None:
    """After a power failure, a single voter can lose unflushed records; its next epoch shows it."""
    directory.append(100)
    reader = reader_of(directory)
    assert reader.position(100, 1).high_watermark == 100
    directory.log.truncate_to(60)
    for asking in (reader, reader_of(directory)):
        with pytest.raises(LogChangedError, match="ends at 60, but was read up to 100"):
            asking.position(100, 1)
    directory.append(60, epoch=2)
    for asking in (reader, reader_of(directory)):
        with pytest.raises(LogChangedError, match="has epoch 2 there, not epoch 1"):
            asking.position(100, 1)
        with pytest.raises(LogChangedError, match="has epoch 2 there, not epoch 1"):
            offsets_read(asking, 100, 120)
        assert asking.position(60, 1).high_watermark == 120


def test_an_older_copy_that_has_diverged(directory: LogDirectory) -> None:
    """The records read had epoch 5; this log never had that epoch, or only after the offset."""
    directory.append(100)
    directory.append(100, epoch=7)
    reader = reader_of(directory)
    with pytest.raises(LogChangedError, match="has epoch 1 there, not epoch 5"):
        reader.position(100, 5)
    with pytest.raises(LogChangedError, match="has epoch 7 there, not epoch 8"):
        reader.position(200, 8)
    assert reader.position(50, 7).high_watermark == 200, "a later epoch that the log knows will do"


def test_epoch_of_an_offset(directory: LogDirectory) -> None:
    for epoch in (1, 4, 9):
        directory.append(200, epoch=epoch)
    reader = reader_of(directory)
    assert [reader.epoch_of(offset) for offset in (0, 199, 200, 399, 400, 599)] == [1, 1, 4, 4, 9, 9]
    directory.checkpoint(400, epoch=4)
    directory.clean_before(400)
    assert reader.epoch_of(0) is None


def test_damage_inside_the_log(directory: LogDirectory) -> None:
    directory.append(700)
    segment = directory.segments()[1]
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    reader = reader_of(directory)
    assert reader.position(0, 0).high_watermark < 700
    with pytest.raises(DamagedLogError, match=rf"{segment.name} is damaged at byte \d+: .*checksum"):
        offsets_read(reader, 0, 700)


@pytest.mark.parametrize("in_segment", [True, False], ids=["within-a-segment", "where-one-begins"])
def test_a_follower_with_another_log_than_its_fetched_snapshot(
    directory: LogDirectory, in_segment: bool
) -> None:
    """The follower will delete this log; its records are not those that the snapshot's leader committed."""
    directory.append(600, epoch=3)
    end = 550 if in_segment else int(directory.segments()[2].stem)
    directory.checkpoint(end, epoch=5)
    directory.static_voters([1, 2, NODE_ID])
    reader = reader_of(directory)
    place = reader.position(0, 0)
    assert (place.high_watermark, place.snapshot) == (end, OffsetAndEpoch(end, 5))
    assert reader.position(end, 5).high_watermark == end


@pytest.mark.parametrize("damage", ["checksum", "missing"])
def test_a_log_that_continues_after_damage_has_not_ended(directory: LogDirectory, damage: str) -> None:
    """Otherwise an export would wait there forever, and report that it has caught up."""
    directory.append(700)
    segment = directory.segments()[1]
    if damage == "missing":
        segment.unlink()
    else:
        data = bytearray(segment.read_bytes())
        data[-1] ^= 1
        segment.write_bytes(data)
    reader = reader_of(directory)
    sound_end = reader.position(0, 0).high_watermark
    assert offsets_read(reader, 0, sound_end) == list(range(sound_end))
    last = int(directory.segments()[-1].stem)
    with pytest.raises(DamagedLogError, match=f"damaged after offset {sound_end - 1}: .* at offset {last}"):
        reader.position(sound_end, 1)


def test_a_missing_segment_is_an_error(directory: LogDirectory) -> None:
    directory.append(700)
    directory.segments()[1].unlink()
    with pytest.raises(LogChangedError, match="a segment is missing"):
        offsets_read(reader_of(directory), 0, 700)


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(b"", id="empty"),
        pytest.param(os.urandom(4096), id="rubbish"),
        pytest.param(b"\0\0\0\7\0\0\0\1" * 100, id="within-a-batch"),
        pytest.param(b"\0\0\0\1\x7f\xff\xff\xff", id="beyond-the-end"),
    ],
)
def test_an_index_is_only_a_hint(tmp_path: Path, index: bytes) -> None:
    directory = LogDirectory(tmp_path / "data", segment_bytes=100_000)
    directory.append(2000)
    directory.close()
    for path in directory.partition.glob("*.index"):
        path.write_bytes(index)
    reader = reader_of(directory)
    for start in range(0, 2000, 97):
        assert offsets_read(reader, start, start + 5) == [*range(start, start + 5)][: 2000 - start]
        assert reader.epoch_of(start) == 1


def test_a_task_reads_its_range_and_not_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = LogDirectory(tmp_path / "data", segment_bytes=10_000_000)
    directory.append(100_000, size=10)
    whole = directory.segments()[0].stat().st_size
    read_bytes = 0
    pread = os.pread

    def counting(descriptor: int, size: int, position: int) -> bytes:
        nonlocal read_bytes
        data = pread(descriptor, size, position)
        read_bytes += len(data)
        return data

    monkeypatch.setattr(segment_file, "READ_BYTES", 8192)
    monkeypatch.setattr(segment_file.os, "pread", counting)
    reader = reader_of(directory)
    assert offsets_read(reader, 50_000, 50_100) == list(range(50_000, 50_100))
    assert read_bytes < 10 * 8192 < whole / 10
    reader.position(0, 0)
    read_bytes = 0
    directory.append(100)
    assert reader.position(0, 0).high_watermark == 100_100
    assert read_bytes < 5 * 8192, "the end is remembered"
    directory.close()


def test_the_owner_of_a_directory(directory: LogDirectory, tmp_path: Path) -> None:
    assert reader_of(directory).cluster_id() == CLUSTER_ID
    assert DirectoryReader(directory.partition).cluster_id() == CLUSTER_ID
    with pytest.raises(WrongClusterError, match=f"belongs to cluster {CLUSTER_ID}, not to cluster another"):
        DirectoryReader(directory.path, "another")
    (directory.path / "meta.properties").write_text(f"version=2\ncluster.id={CLUSTER_ID}\n")
    with pytest.raises(ObserverError, match=r"meta\.properties cannot be understood: version 2"):
        reader_of(directory)
    (directory.path / "meta.properties").unlink()
    with pytest.raises(ObserverError, match=r"no meta\.properties that names its cluster"):
        reader_of(directory)
    assert DirectoryReader(directory.path, "given").cluster_id() == "given"
    with pytest.raises(ObserverError, match="holds no __cluster_metadata-0"):
        DirectoryReader(tmp_path)
