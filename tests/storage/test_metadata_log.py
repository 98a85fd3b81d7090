"""MetadataLog against a model: append, truncate, reopen, read; then the refusals."""

from __future__ import annotations

import errno
import os
import threading
import tracemalloc
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kraftctl.storage import recent_batches
from kraftctl.storage.errors import CorruptLogError, StorageError
from kraftctl.storage.leader_epoch_checkpoint import read_leader_epochs
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.recovery import DurableEnd
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.storage.batches import batch
from tests.support.effort import scaled

OPENED: list[MetadataLog] = []


def open_log(directory: Path, **options: Any) -> MetadataLog:
    """It is closed at the end of the test."""
    log = MetadataLog.open(directory, **options)
    OPENED.append(log)
    return log


def kill(log: MetadataLog) -> None:
    """Close its files as the end of its process does: nothing is written."""
    log._failure = log._failure or "killed"
    log.close()


def descriptors() -> int:
    """How many this process has."""
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    before = descriptors()
    yield
    while OPENED:
        kill(OPENED.pop())
    assert descriptors() <= before


def test_new_log_is_empty(tmp_path: Path) -> None:
    log = open_log(tmp_path / "new" / "__cluster_metadata-0")
    assert (log.start_offset, log.end_offset, log.last_epoch, log.epochs) == (0, 0, 0, [])
    assert log.read(0, 1000) == b""
    assert (log.directory / "partition.metadata").read_bytes() == (
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    )
    assert (log.directory / "leader-epoch-checkpoint").read_bytes() == b"0\n0\n"


def test_append_flush_read_reopen(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert log.append(batch(0, count=3) + batch(3)) == 4
    assert log.durable_end_offset == 0
    assert log.flush() == 4
    assert log.append(batch(4, epoch=2)) == 5
    log.close()
    log = open_log(tmp_path)
    assert (log.end_offset, log.last_epoch, log.epochs) == (5, 2, [(1, 0), (2, 4)])
    assert read_leader_epochs(tmp_path) == [(1, 0), (2, 4)]
    assert log.read(1, 1) == batch(0, count=3)
    assert log.read(3, 10_000) == batch(3) + batch(4, epoch=2)
    assert log.recovery.warnings() == []


@pytest.mark.parametrize(
    ("batches", "reason"),
    [
        pytest.param(b"", "nothing", id="nothing"),
        pytest.param(batch(4), "offset 3 was expected", id="gap"),
        pytest.param(batch(2), "offset 3 was expected", id="overlap"),
        pytest.param(batch(3, epoch=1), "epoch", id="epoch-falls"),
        pytest.param(batch(3, epoch=2)[:-1], "cut short", id="cut-short"),
        pytest.param(batch(3, epoch=2)[:20], "cut short", id="header-cut-short"),
        pytest.param(batch(3, epoch=2) + batch(5, epoch=2), "offset 4 was expected", id="gap-inside"),
    ],
)
def test_append_refuses(tmp_path: Path, batches: bytes, reason: str) -> None:
    log = open_log(tmp_path)
    log.append(batch(0, epoch=2, count=3))
    with pytest.raises(StorageError, match=reason):
        log.append(batches)
    assert log.append(batch(3, epoch=2)) == 4


def test_segments_roll_at_their_size_and_old_ones_can_go(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=1000)
    for offset in range(100):
        log.append(batch(offset, epoch=1 + offset // 40))
    log.flush()
    names = sorted(path.name for path in tmp_path.glob("*.log"))
    assert len(names) > 5
    assert log.delete_segments_before(50) > 0
    assert (log.start_offset, log.epochs) == (50, [(2, 50), (3, 80)])
    assert read_leader_epochs(tmp_path) == [(2, 50), (3, 80)]
    with pytest.raises(ValueError, match="49"):
        log.read(49, 1)
    log.close()
    log = open_log(tmp_path, segment_bytes=1000)
    assert log.start_offset <= 50
    assert log.end_offset == 100


def test_a_segment_is_rolled_by_batch_time(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_ms=10)
    for offset in range(30):
        log.append(batch(offset))
    log.flush()
    assert len(list(tmp_path.glob("*.log"))) == 3


def test_index_files_are_roomy_while_active_and_trimmed_after(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=30_000)
    for offset in range(1000):
        log.append(batch(offset))
    log.flush()
    indexes = sorted(tmp_path.glob("*.index"))
    assert [path.stat().st_size for path in indexes[:-1]] == [7 * 8] * (len(indexes) - 1)
    assert indexes[-1].stat().st_size == 10 * 1024 * 1024
    assert indexes[-1].with_suffix(".timeindex").stat().st_size == 10 * 1024 * 1024 // 12 * 12
    log.close()
    assert indexes[-1].stat().st_size < 10 * 1024
    assert 0 < indexes[-1].with_suffix(".timeindex").stat().st_size < 10 * 1024


def test_index_files_rebuilt_by_recovery_equal_those_written_by_appends(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=30_000)
    for offset in range(1000):
        log.append(batch(offset, value=b"x" * (offset % 90)))
    log.close()
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*index")}
    for path in tmp_path.glob("*index"):
        path.write_bytes(b"")
    MetadataLog.open(tmp_path, segment_bytes=30_000).close()
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*index")} == before


def test_start_over_at_a_snapshot(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=500)
    for offset in range(20):
        log.append(batch(offset))
    log.truncate_fully_and_start_at(OffsetAndEpoch(1643, 7))
    assert (log.start_offset, log.end_offset, log.last_epoch, log.epochs) == (1643, 1643, 7, [])
    with pytest.raises(StorageError):
        log.append(batch(1643, epoch=6))
    log.append(batch(1643, epoch=7))
    log.close()
    log = open_log(tmp_path)
    assert (log.start_offset, log.end_offset, log.epochs) == (1643, 1644, [(7, 1643)])


def test_after_a_failed_fsync_nothing_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(tmp_path)
    log.append(batch(0))
    log.flush()
    log.append(batch(1))

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(StorageError, match="fsync failed"):
            log.flush()
    for refused in (
        log.flush,
        lambda: log.append(batch(2)),
        lambda: log.read(0, 1),
        lambda: log.truncate_to(1),
    ):
        with pytest.raises(StorageError, match="out of service"):
            refused()
    assert log.durable_end_offset == 1
    log.close()


def test_a_full_disk_ends_the_log_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path)
    log.append(batch(0))
    log.flush()
    log.append(batch(1))
    real_pwrite = os.pwrite

    def nearly_full(descriptor: int, data: memoryview, position: int) -> int:
        if len(data) > 20:
            return real_pwrite(descriptor, data[:20], position)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", nearly_full)
        with pytest.raises(StorageError, match="No space left"):
            log.flush()
    with pytest.raises(StorageError, match="out of service"):
        log.append(batch(2))
    assert log.durable_end_offset == 1
    log.close()
    log = open_log(tmp_path)
    assert (log.end_offset, log.recovery.warnings()) == (1, [])


@pytest.mark.parametrize("position_in_batch", [4, 8, 11, 15, 16, 18, 21, 25, 60, -1])
def test_what_a_disk_gives_back_wrong_is_not_read(tmp_path: Path, position_in_batch: int) -> None:
    """In the header outside the checksum, in the checksum, and in what it covers; of each batch in turn."""
    batches = [batch(offset, epoch=1 + offset // 3, value=b"x" * 30) for offset in range(6)]
    whole = b"".join(batches)
    size = len(batches[0])
    log = open_log(tmp_path)
    log.append(whole)
    log.close()
    log = open_log(tmp_path)
    path = tmp_path / f"{0:020d}.log"
    for damaged in range(6):
        content = bytearray(whole)
        content[damaged * size + position_in_batch % size] ^= 0x41
        path.write_bytes(content)
        with pytest.raises(CorruptLogError, match=str(path)):
            log.read(damaged, 1)
        for offset in range(6):
            for max_bytes in (1, 2 * size, 10 * size):
                try:
                    data = log.read(offset, max_bytes)
                except CorruptLogError:
                    continue
                assert whole[offset * size :].startswith(data)
                assert data
    log.close()


def test_log_that_does_not_belong_to_the_metadata_topic(tmp_path: Path) -> None:
    (tmp_path / "partition.metadata").write_text("version: 0\ntopic_id: TzUHEs1aSdqvjJVJ7jWF2w")
    with pytest.raises(StorageError, match=r"metadata\.log\.dir"):
        open_log(tmp_path)


class LogModel(RuleBasedStateMachine):
    """A list of batches is the model; small segments and index files make every border frequent.

    `written_end` is how far they are in files: what a killed process leaves on the disk.
    """

    @initialize(directory=st.just(None))
    def open(self, directory: None) -> None:
        import tempfile

        self.temporary = tempfile.TemporaryDirectory()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(recent_batches, "RECENT_BYTES_MAX", 800)
        self.model: list[bytes] = []
        self.start = 0
        self.written_end = 0
        self.epoch = 1
        self.log = self._open()

    def _open(self) -> MetadataLog:
        return MetadataLog.open(
            Path(self.temporary.name), segment_bytes=700, index_bytes_max=96, start_epoch=self.epoch
        )

    def _offsets(self) -> list[int]:
        return [int.from_bytes(data[:8], "big") for data in self.model]

    @rule(count=st.integers(1, 4), size=st.integers(0, 300), batches=st.integers(1, 3), bump=st.booleans())
    def append(self, count: int, size: int, batches: int, bump: bool) -> None:
        self.epoch += bump
        end = self.log.end_offset
        new = [batch(end + at * count, self.epoch, count, b"x" * size) for at in range(batches)]
        assert self.log.append(b"".join(new)) == end + batches * count
        self.model += new

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(self.log.start_offset, self.log.end_offset))
        end = self.log.truncate_to(offset)
        self._cut_model(offset)
        assert end == self.log_end_of_model()
        self.written_end = min(self.written_end, end)
        assert self.log.durable_end_offset <= end

    def _cut_model(self, offset: int) -> None:
        ends = [*self._offsets(), self.log_end_of_model()][1:]
        self.model = [one for one, one_end in zip(self.model, ends, strict=True) if one_end <= offset]

    def log_end_of_model(self) -> int:
        if not self.model:
            return self.start
        header = read_batches(self.model[-1])[0].header
        return header.last_offset + 1

    @rule()
    def flush(self) -> None:
        assert self.log.flush() == self.log.end_offset
        self.written_end = self.log.end_offset

    @rule(count=st.integers(1, 4))
    def append_beside_a_flush(self, count: int) -> None:
        claims: list[int] = []
        before = self.log.end_offset
        thread = threading.Thread(target=lambda: claims.append(self.log.flush()))
        thread.start()
        for _ in range(count):
            self.append(1, 100, 1, bump=False)
        thread.join()
        assert before <= claims[0] <= self.log.end_offset
        self.written_end = claims[0]

    @precondition(lambda self: self.model)
    @rule(data=st.data(), max_bytes=st.integers(1, 3000))
    def read(self, data: st.DataObject, max_bytes: int) -> None:
        offset = data.draw(st.integers(self.log.start_offset, self.log.end_offset - 1))
        bases = self._offsets()
        at = bisect_right(bases, offset) - 1
        end = data.draw(st.integers(at, len(bases)))
        end_offset = [*bases, self.log_end_of_model()][end]
        found = self.log.read(offset, max_bytes, end_offset)
        count = len(read_batches(found))
        assert found == b"".join(self.model[at : at + count])
        assert count >= (end > at)
        assert at + count <= end
        assert len(found) <= max_bytes or count == 1
        assert self.log.read_recent(offset, max_bytes, end_offset) in (None, found)

    @rule(clean=st.booleans())
    def reopen(self, clean: bool) -> None:
        if clean:
            self.log.close()
            self.written_end = self.log_end_of_model()
        else:
            kill(self.log)
        self.log = self._open()
        self._cut_model(self.written_end)
        assert self.log.recovery.warnings() == []

    @invariant()
    def same_as_model(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.log.end_offset == self.log_end_of_model()
        collected = b""
        offset = self.log.start_offset
        while offset < self.log.end_offset:
            data = self.log.read(offset, 500)
            collected += data
            offset = read_batches(data)[-1].header.last_offset + 1
        assert collected == b"".join(self.model)
        epochs = [int.from_bytes(data[12:16], "big") for data in self.model]
        assert [epoch for epoch, _ in self.log.epochs] == sorted(set(epochs))

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close()
            self.patch.undo()
            self.temporary.cleanup()


LogModel.TestCase.settings = settings(
    max_examples=scaled(60), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLogModel = LogModel.TestCase


def test_reads_from_the_sparse_index_what_is_not_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_batches, "RECENT_BYTES_MAX", 3000)
    log = open_log(tmp_path)
    batches = [batch(offset, value=b"x" * (offset % 400)) for offset in range(1000)]
    log.append(b"".join(batches))
    log.flush()
    assert log.read_recent(900, 1) is None
    whole = b"".join(batches)
    starts = [0]
    for data in batches:
        starts.append(starts[-1] + len(data))
    for offset in range(0, 1000, 7):
        for max_bytes in (1, 100, 5000, 20_000):
            limit = starts[offset] + max_bytes
            end = max(max(start for start in starts if start <= limit), starts[offset + 1])
            assert log.read(offset, max_bytes) == whole[starts[offset] : end]


@pytest.mark.parametrize("value_bytes", [100, 3_000, 50_000], ids=["short", "long", "longer-than-a-walk"])
def test_no_part_of_a_batch_is_read_that_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value_bytes: int
) -> None:
    """What is read is sent as it is: to cut something off, all of it would be copied."""
    monkeypatch.setattr(recent_batches, "RECENT_BYTES_MAX", 0)
    log = open_log(tmp_path)
    for offset in range(400_000 // value_bytes):
        log.append(batch(offset, value=bytes(value_bytes)))
    log.flush()
    read_bytes: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "pread", _noting(os.pread, read_bytes))
        data = log.read(1, 200_000)
    assert 200_000 - value_bytes - 100 < len(data) <= 200_000
    assert read_bytes[-1] == len(data)
    assert data == log.read(1, len(data)) == log.read(1, len(data) + 1)


def _noting(read: Any, sizes: list[int]) -> Any:
    def noting(descriptor: int, size: int, position: int) -> bytes:
        sizes.append(size)
        data: bytes = read(descriptor, size, position)
        return data

    return noting


def test_an_index_that_cannot_be_written_undoes_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batches are in the file already when the disk turns out to be full."""
    log = open_log(tmp_path)
    model = [batch(offset, value=b"x" * 3000) for offset in range(2)]
    log.append(b"".join(model))
    log.flush()
    log.append(batch(2) + batch(3))
    real_pwrite = os.pwrite

    def no_room_for_entries(descriptor: int, data: bytes, position: int) -> int:
        if len(data) == 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_pwrite(descriptor, data, position)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", no_room_for_entries)
        with pytest.raises(StorageError, match="No space left"):
            log.flush()
    log.close()
    log = open_log(tmp_path)
    assert log.recovery.warnings() == []
    model += [batch(2, value=b"other"), batch(3, value=b"other")]
    assert log.append(model[2] + model[3]) == 4
    assert [log.read(offset, 1) for offset in range(4)] == model
    log.close()
    log = open_log(tmp_path)
    assert [log.read(offset, 1) for offset in range(4)] == model


def test_a_start_looks_at_what_is_cut_one_segment_at_a_time(tmp_path: Path) -> None:
    """Segments have up to a gigabyte each."""
    size_bytes = 1 << 20
    log = open_log(tmp_path, segment_bytes=size_bytes)
    for offset in range(9):
        log.append(batch(offset, value=bytes(size_bytes - 1000)))
    log.flush()
    log.close()
    first, *later = sorted(tmp_path.glob("*.log"))
    assert len(later) == 8
    first.write_bytes(first.read_bytes()[:-1])
    tracemalloc.start()
    log = open_log(tmp_path, durable_end=DurableEnd(0, is_exact=True, epoch_max=1))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert log.end_offset == 0
    assert peak_bytes < 5 * size_bytes
