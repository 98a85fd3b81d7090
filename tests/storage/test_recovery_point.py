"""The recovery point: one of two lines is always valid; exact after a kill, else at most a second old."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest
from crc32c import crc32c

from kraftctl.raft.election_state import NOT_VOTED, ElectionState
from kraftctl.storage.errors import StorageError
from kraftctl.storage.recovery_point import (
    BLOCK_BYTES,
    COMMITTED_POSITIONS,
    FILE_NAME,
    FORCE_INTERVAL_MS,
    LINE_BYTES,
    RecoveryPoint,
    RecoveryPointFile,
    create_recovery_point,
    read_recovery_point,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import uuid_from_string
from tests.storage.batches import batch
from tests.support.partitions import DIRECTORY_ID, always_now, open_partition

OTHER_ID = uuid_from_string("TzUHEs1aSdqvjJVJ7jWF2w")


def _point(log_dir: Path) -> RecoveryPoint:
    point = read_recovery_point(log_dir)
    assert point is not None
    return point


def _file(log_dir: Path) -> RecoveryPointFile:
    file = RecoveryPointFile.open(log_dir, DIRECTORY_ID, always_now)
    file.begin(RecoveryPoint(DIRECTORY_ID))
    return file


def test_formatting_makes_one_that_knows_nothing(tmp_path: Path) -> None:
    create_recovery_point(tmp_path, DIRECTORY_ID)
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID)
    content = (tmp_path / FILE_NAME).read_text()
    assert len(content) == 2 * BLOCK_BYTES
    assert content.startswith("version=1 sequence=1 directory.id=bGzDaR4ySNmJaPXzonU2CA quorum.epoch=0 ")


def test_an_older_directory_has_none(tmp_path: Path) -> None:
    assert read_recovery_point(tmp_path) is None


def test_every_flipped_byte_leaves_the_line_before(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.note_durable(1, 10)
    file.note_cut(1, 7)
    file.note_durable(1, 12)
    whole = (tmp_path / FILE_NAME).read_bytes()
    assert _point(tmp_path).end_offset == 12
    found = set()
    lines = [*range(LINE_BYTES), *range(BLOCK_BYTES, BLOCK_BYTES + LINE_BYTES)]
    for position in [*lines, *range(LINE_BYTES, len(whole), 64)]:
        damaged = bytearray(whole)
        damaged[position] ^= 0x11
        (tmp_path / FILE_NAME).write_bytes(damaged)
        found.add(_point(tmp_path).end_offset)
    assert found == {7, 12}


@pytest.mark.parametrize(
    "content", [b"", b"x" * 2 * LINE_BYTES, b"\xff" * 10], ids=["empty", "text", "binary"]
)
def test_no_good_line_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StorageError, match=r"metadata-recovery-point is damaged.*Next step"):
        open_partition(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_one_of_an_earlier_replica_is_replaced(tmp_path: Path) -> None:
    create_recovery_point(tmp_path, OTHER_ID)
    partition = open_partition(tmp_path)
    assert ["earlier replica" in notice for notice in partition.warnings] == [True]
    assert _point(tmp_path).directory_id == DIRECTORY_ID


@pytest.mark.prevents("contradicting-files")
def test_what_was_flushed_is_in_it_when_the_process_is_killed(tmp_path: Path) -> None:
    partition = open_partition(tmp_path)
    partition.write_quorum_state(ElectionState(epoch=3, voted_id=2, data_version=1))
    partition.log.append(batch(0, epoch=3, count=5))
    assert _point(tmp_path)[1:5] == (3, 2, 0, 0)
    assert partition.flush() == 5
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 3, 2, 3, 5)
    partition.close()
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 3, 2, 3, 5, stopped=True)


@pytest.mark.parametrize("damaged_line", [0, 1])
def test_a_replica_that_has_recovered_does_not_recover_again_for_a_damaged_line(
    tmp_path: Path, damaged_line: int
) -> None:
    """It has voted since: the epoch to catch up with would be too low."""
    file = _file(tmp_path)
    file.begin(RecoveryPoint(DIRECTORY_ID, quorum_epoch=5, recovering=True))
    file.note_recovered()
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    content[damaged_line * BLOCK_BYTES] ^= 1
    (tmp_path / FILE_NAME).write_bytes(content)
    assert not _point(tmp_path).recovering


def test_a_flush_keeps_all_other_promises(tmp_path: Path) -> None:
    """Of the line, only the end of the log is encoded anew."""
    file = RecoveryPointFile.open(tmp_path, DIRECTORY_ID, always_now)
    file.begin(RecoveryPoint(DIRECTORY_ID, quorum_epoch=1, recovering=True))
    file.note_durable(1, 10)
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 1, NOT_VOTED, 1, 10, recovering=True)
    file.note_recovered()
    file.note_durable(1, 20)
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 1, NOT_VOTED, 1, 20)
    file.note_election(ElectionState(epoch=2, voted_id=3, voted_directory_id=OTHER_ID))
    file.note_durable(2, 30)
    expected = RecoveryPoint(DIRECTORY_ID, 2, 3, 2, 30, voted_directory_id=OTHER_ID)
    assert _point(tmp_path) == expected == file.point


def test_a_stop_notes_what_it_flushes(tmp_path: Path) -> None:
    partition = open_partition(tmp_path)
    partition.log.append(batch(0, epoch=3))
    partition.close()
    point = _point(tmp_path)
    assert (point.log_epoch, point.end_offset, point.stopped) == (3, 1, True)


def test_it_does_not_say_stopped_after_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log may end after the recovery point: a hole there comes from the failure and is cut."""
    partition = open_partition(tmp_path)
    partition.log.append(batch(0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", _failing)
        with pytest.raises(StorageError, match="fsync failed"):
            partition.flush()
    partition.close()
    assert (_point(tmp_path).end_offset, _point(tmp_path).stopped) == (0, False)


def _failing(descriptor: int) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_vote_in_a_known_epoch_is_noted(tmp_path: Path) -> None:
    partition = open_partition(tmp_path)
    partition.write_quorum_state(ElectionState(epoch=3, data_version=1))
    partition.write_quorum_state(ElectionState(epoch=3, voted_id=2, data_version=1))
    assert _point(tmp_path)[1:3] == (3, 2)


@pytest.mark.prevents("contradicting-files")
def test_it_is_lowered_before_the_log_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To where the log ends then: the batch that holds the offset goes with all of its records."""
    partition = open_partition(tmp_path)
    partition.log.append(batch(0, epoch=1, count=5) + batch(5, epoch=2, count=5))
    partition.flush()

    class Stopped(BaseException):
        pass

    class Stopping:
        """In place of the lock that a truncation takes before it changes anything."""

        def __enter__(self) -> None:
            raise Stopped

        def __exit__(self, *_: object) -> None: ...

    with monkeypatch.context() as patch:
        patch.setattr(partition.log, "_files_lock", Stopping())
        with pytest.raises(Stopped):
            partition.truncate_log(7)
    assert _point(tmp_path)[3:5] == (1, 5)
    partition.truncate_log(7)
    partition.log.append(batch(5, epoch=3))
    partition.flush()
    assert _point(tmp_path)[3:5] == (3, 6)


@pytest.mark.prevents("failed-truncation")
def test_a_truncation_that_cannot_read_leaves_no_later_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has deleted a segment by then: a stop must not note the end that the log had before."""
    partition = open_partition(tmp_path, segment_bytes=200)
    partition.write_quorum_state(ElectionState(epoch=1, data_version=1))
    for offset in range(6):
        partition.log.append(batch(offset))
        partition.flush()
    with monkeypatch.context() as failing:
        failing.setattr(os, "pread", _no_read)
        with pytest.raises(StorageError, match="Input/output error"):
            partition.truncate_log(1)
        partition.close()
    open_partition(tmp_path, segment_bytes=200).close()


def _no_read(descriptor: int, size_bytes: int, position: int) -> bytes:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_snapshot_that_replaces_the_log_is_noted(tmp_path: Path) -> None:
    partition = open_partition(tmp_path)
    partition.log.append(batch(0, epoch=1, count=50))
    partition.flush()
    partition.start_over_at(OffsetAndEpoch(40, 2))
    assert _point(tmp_path)[3:5] == (2, 40)


def test_it_is_forced_once_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forced: list[int] = []

    def note(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(FILE_NAME):
            forced.append(descriptor)

    monkeypatch.setattr(os, "fdatasync", note)
    now_ms = 0
    partition = open_partition(tmp_path, now_ms=lambda: now_ms)
    for offset in range(25):
        now_ms += FORCE_INTERVAL_MS // 10
        partition.log.append(batch(offset))
        partition.flush()
    assert len(forced) == 2
    partition.close()
    assert len(forced) == 3


def test_a_flush_that_ends_behind_a_truncation_does_not_raise_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flush runs on its own thread; the log is cut between its end and its note."""
    partition = open_partition(tmp_path)
    partition.log.append(batch(0, count=5) + batch(5, count=5))
    flushed, may_note = threading.Event(), threading.Event()
    lock = threading.Lock()

    class Cutting:
        """In place of the lock that is taken for the note: the flusher waits before it."""

        def __enter__(self) -> None:
            if threading.current_thread() is flusher:
                flushed.set()
                assert may_note.wait(10.0)
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    monkeypatch.setattr(partition, "_cutting", Cutting())
    flusher = threading.Thread(target=partition.flush)
    flusher.start()
    assert flushed.wait(10.0)
    partition.truncate_log(5)
    may_note.set()
    flusher.join()
    assert _point(tmp_path)[3:5] == (1, 5)


def test_a_disk_that_does_not_take_it_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = open_partition(tmp_path)

    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    with pytest.raises(StorageError, match=r"cannot write .*metadata-recovery-point.*Next step"):
        partition.write_quorum_state(ElectionState(epoch=3, data_version=1))


@pytest.mark.parametrize(
    ("point", "version"),
    [
        pytest.param(RecoveryPoint(DIRECTORY_ID, 7, 3, 6, 90, stopped=True), 1, id="a-vote"),
        pytest.param(RecoveryPoint(DIRECTORY_ID, 7, recovering=True), 1, id="recovering"),
        pytest.param(
            RecoveryPoint(DIRECTORY_ID, 7, 3, 6, 90, voted_directory_id=OTHER_ID),
            2,
            id="a-vote-with-directory",
        ),
        pytest.param(RecoveryPoint(DIRECTORY_ID, 7, 1, 6, 90, elected=True), 2, id="elected"),
        pytest.param(RecoveryPoint(DIRECTORY_ID, 7, recovering=True, log_is_whole=True), 2, id="votes-lost"),
    ],
)
def test_a_line_is_of_the_lowest_version_that_can_say_it(
    tmp_path: Path, point: RecoveryPoint, version: int
) -> None:
    """So that an older release, which knows version 1 alone, can mostly read the file."""
    file = RecoveryPointFile.open(tmp_path, DIRECTORY_ID, always_now)
    file.begin(point)
    file.note_durable(point.log_epoch, point.end_offset + 1)
    content = (tmp_path / FILE_NAME).read_text()
    lines = [content[position : position + LINE_BYTES] for position in (0, BLOCK_BYTES)]
    assert [line.split()[0] for line in lines] == [f"version={version}"] * 2
    assert [line[-1] for line in lines] == ["\n"] * 2
    assert _point(tmp_path) == point._replace(end_offset=point.end_offset + 1)


def test_a_file_of_version_1_is_read(tmp_path: Path) -> None:
    """As a release wrote it that knew no other version."""
    text = (
        "version=1 sequence=4 directory.id=bGzDaR4ySNmJaPXzonU2CA quorum.epoch=3 voted.id=2 log.epoch=3"
        " end.offset=5 state=voting stopped=yes"
    )
    line = f"{text} crc32c={crc32c(text.encode()):08x}".ljust(LINE_BYTES - 1) + "\n"
    (tmp_path / FILE_NAME).write_text(line + "\n".rjust(LINE_BYTES))
    assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 3, 2, 3, 5, stopped=True)


def _line(text: str) -> bytes:
    return f"{text} crc32c={crc32c(text.encode()):08x}".ljust(LINE_BYTES - 1).encode() + b"\n"


@pytest.mark.parametrize("position", [0, BLOCK_BYTES])
def test_a_line_of_a_newer_release_is_not_passed_over_for_an_older_one(tmp_path: Path, position: int) -> None:
    """A newer release was killed after its first write: the other block still says what this one wrote."""
    create_recovery_point(tmp_path, DIRECTORY_ID)
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    later = _line("version=3 sequence=1000 quorum.epoch=8 voted.id=3 of.that.release=yes")
    content[position : position + LINE_BYTES] = later
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StorageError, match="is of version 3, 2 is supported: a newer release wrote it"):
        read_recovery_point(tmp_path)

    content[position + 20] ^= 1
    (tmp_path / FILE_NAME).write_bytes(content)
    assert _point(tmp_path).quorum_epoch == 0, "a torn write of that release: nothing relied on it"


def test_a_file_of_two_lines_in_one_block_is_read_and_made_anew(tmp_path: Path) -> None:
    """As earlier releases wrote it."""
    rest = "directory.id=bGzDaR4ySNmJaPXzonU2CA quorum.epoch=3 voted.id=2 log.epoch=3"
    for newer in (0, 1):
        lines = [
            _line(f"version=1 sequence={4 + (at == newer)} {rest} end.offset={at} state=voting stopped=no")
            for at in (0, 1)
        ]
        (tmp_path / FILE_NAME).write_bytes(b"".join(lines))
        assert _point(tmp_path) == RecoveryPoint(DIRECTORY_ID, 3, 2, 3, newer)
    file = RecoveryPointFile.open(tmp_path, DIRECTORY_ID, always_now)
    assert file.point is not None
    file.begin(file.point)
    assert (tmp_path / FILE_NAME).stat().st_size == 2 * BLOCK_BYTES
    assert _point(tmp_path) == file.point


def _with_history(log_dir: Path) -> list[RecoveryPoint]:
    """A file whose blocks differ; returns the points that may be found after damage to one of them."""
    file = _file(log_dir)
    file.note_election(ElectionState(epoch=2, voted_id=3))
    file.note_durable(2, 10, 1, 4)
    before = file.point
    file.force()
    file.note_durable(2, 20, 2, 15)
    assert before is not None
    assert file.point is not None
    file.close(stopped=False)
    content = bytearray((log_dir / FILE_NAME).read_bytes())
    # Closing has made both equal: the first block as it was before.
    old = RecoveryPointFile(log_dir, always_now)
    old.begin(before)
    content[:BLOCK_BYTES] = (log_dir / FILE_NAME).read_bytes()[:BLOCK_BYTES]
    (log_dir / FILE_NAME).write_bytes(content)
    return [before, file.point]


SPOILED = {
    "zeros": bytes(512),
    "ones": b"\xff" * 512,
    "text": b"x" * 512,
    "newlines": b"\n" * 512,
    "a line without its end": _line("version=1 sequence=99 end.offset=7").replace(b"crc32c", b"crc32d"),
}


@pytest.mark.parametrize("spoiled", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("block", [0, 1])
def test_any_spoiled_sectors_of_one_block_leave_the_other(tmp_path: Path, block: int, spoiled: bytes) -> None:
    """Every first and last spoiled sector of 512 bytes, as torn writes of any size leave them."""
    before, after = _with_history(tmp_path)
    whole = (tmp_path / FILE_NAME).read_bytes()
    sectors = BLOCK_BYTES // 512
    for first in range(sectors):
        for end in range(first + 1, sectors + 1):
            content = bytearray(whole)
            start = block * BLOCK_BYTES
            content[start + first * 512 : start + end * 512] = spoiled * (end - first)
            (tmp_path / FILE_NAME).write_bytes(content)
            found = _point(tmp_path)
            line_is_lost = first == 0 and block == 1
            expected = before if line_is_lost else after
            assert found[:10] == expected[:10], (first, end)
            committed_is_lost = block == 1 and first <= 1 < end
            assert found.committed_end == (before if committed_is_lost else after).committed_end, (first, end)


@pytest.mark.parametrize("size_bytes", [0, 1, 511, 512, 1023, 1024, 4095, 4096, 4607, 4608, 5119, 5120])
def test_a_file_that_was_cut_short_is_read_as_far_as_it_goes(tmp_path: Path, size_bytes: int) -> None:
    before, after = _with_history(tmp_path)
    content = (tmp_path / FILE_NAME).read_bytes()
    (tmp_path / FILE_NAME).write_bytes(content[:size_bytes])
    if size_bytes < LINE_BYTES:
        with pytest.raises(StorageError, match="is damaged"):
            _point(tmp_path)
        return
    expected = after if size_bytes >= BLOCK_BYTES + LINE_BYTES else before
    assert _point(tmp_path)[:10] == expected[:10]
    committed = {True: after.committed_end, False: before.committed_end}[
        size_bytes >= COMMITTED_POSITIONS[1] + LINE_BYTES
    ]
    assert _point(tmp_path).committed_end == (committed if size_bytes >= 2 * LINE_BYTES else 0)


def test_an_earlier_release_finds_the_last_vote_in_the_first_block(tmp_path: Path) -> None:
    """It reads 1,024 bytes, after a kill, too; the end of the log that it finds may be older, never later."""
    file = _file(tmp_path)
    for epoch in range(1, 6):
        file.note_election(ElectionState(epoch=epoch, voted_id=epoch + 1))
        content = (tmp_path / FILE_NAME).read_bytes()
        (tmp_path / FILE_NAME).write_bytes(content[: 2 * LINE_BYTES])
        assert _point(tmp_path)[1:3] == (epoch, epoch + 1)
        (tmp_path / FILE_NAME).write_bytes(content)
    file.note_durable(5, 50)
    file.note_cut(5, 40)
    (tmp_path / FILE_NAME).write_bytes((tmp_path / FILE_NAME).read_bytes()[: 2 * LINE_BYTES])
    assert _point(tmp_path).end_offset == 40


@pytest.mark.parametrize(
    "text",
    ["committed.epoch=2147483648 committed.end=5", "committed.epoch=1 committed.end=9223372036854775808"],
)
def test_what_kraftctl_never_writes_is_refused(tmp_path: Path, text: str) -> None:
    create_recovery_point(tmp_path, DIRECTORY_ID)
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    content[LINE_BYTES : 2 * LINE_BYTES] = _line(text)
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(StorageError, match=r"committed\.(epoch|end) \d+ is not from 0 to"):
        _point(tmp_path)


def test_what_is_committed_never_falls(tmp_path: Path) -> None:
    file = _file(tmp_path)
    file.note_durable(3, 30, 2, 25)
    file.note_durable(3, 31, 1, 7)
    file.note_durable(3, 32)
    assert _point(tmp_path) == RecoveryPoint(
        DIRECTORY_ID, log_epoch=3, end_offset=32, committed_epoch=2, committed_end=25
    )
    with pytest.raises(AssertionError, match="25 is committed, not 24"):
        file.note_cut(2, 24)
    file.note_cut(2, 25)
    assert _point(tmp_path).end_offset == 25


def test_every_flipped_byte_of_a_committed_line_is_noticed(tmp_path: Path) -> None:
    """It is then taken for one that says nothing; the other block has the value before."""
    _, after = _with_history(tmp_path)
    whole = (tmp_path / FILE_NAME).read_bytes()
    for position in range(COMMITTED_POSITIONS[1], COMMITTED_POSITIONS[1] + LINE_BYTES):
        for flip in (0x01, 0x10):
            content = bytearray(whole)
            content[position] ^= flip
            (tmp_path / FILE_NAME).write_bytes(content)
            assert _point(tmp_path).committed_end == 4, position
    assert after.committed_end == 15
