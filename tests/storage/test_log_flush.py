"""MetadataLog in two threads: batches in memory, batches in files, and the end offset of a flush."""

from __future__ import annotations

import os
import random
import threading
from functools import partial
from pathlib import Path

import pytest

from kraftctl.storage import metadata_log
from kraftctl.storage.errors import StorageError
from kraftctl.storage.leader_epoch_checkpoint import read_leader_epochs
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl_protocol.batch_framing import scan_batches
from tests.storage.batches import batch
from tests.support.effort import seeds

SECONDS_MAX = 20.0


class WatchedDisk:
    """Has a batch appended during each os.fdatasync, and knows up to where the segments were to be kept."""

    def __init__(self, patch: pytest.MonkeyPatch, log: MetadataLog, count: int) -> None:
        self.end_offset = 0
        self._log = log
        self._remaining = count
        self._wanted, self._appended = threading.Semaphore(0), threading.Semaphore(0)
        patch.setattr(os, "fdatasync", self.fdatasync)

    def fdatasync(self, descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if path.suffix != ".log":
            return
        data = path.read_bytes()
        if self._remaining > 0:
            self._remaining -= 1
            self._wanted.release()
            assert self._appended.acquire(timeout=SECONDS_MAX)
        for place in scan_batches(data, int(path.stem), 0):
            self.end_offset = max(self.end_offset, place.last_offset + 1)

    def append_when_wanted(self, offset: int) -> None:
        """By another thread than the one that flushes."""
        assert self._wanted.acquire(timeout=SECONDS_MAX)
        self._log.append(batch(offset))
        self._appended.release()


@pytest.mark.prevents("tests-that-cannot-fail")
def test_flush_beside_appends_never_claims_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is appended while the disk is forced is not on the disk for it."""
    log = MetadataLog.open(tmp_path, segment_bytes=2000)
    log.append(batch(0))
    disk = WatchedDisk(monkeypatch, log, 199)
    claims: list[tuple[int, int]] = []

    def flush_until_all_is_there() -> None:
        while not claims or claims[-1][0] < 200:
            claims.append((log.flush(), disk.end_offset))

    thread = threading.Thread(target=flush_until_all_is_there)
    thread.start()
    for offset in range(1, 200):
        disk.append_when_wanted(offset)
    thread.join()
    assert len(claims) > 100
    assert claims == sorted(claims)
    assert [claim for claim in claims if claim[0] > claim[1]] == []
    log.close()
    assert MetadataLog.open(tmp_path, segment_bytes=2000).end_offset == 200


def test_what_a_killed_process_has_written_is_forced_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill all of it is there, but not yet on the disk. What the next process reports must be."""
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", lambda descriptor: None)
        killed = MetadataLog.open(tmp_path, segment_bytes=500)
        for offset in range(20):
            killed.append(batch(offset))
        killed.flush()
    forced: dict[str, int] = {}
    fdatasync = os.fdatasync

    def note(descriptor: int) -> None:
        fdatasync(descriptor)
        forced[os.readlink(f"/proc/self/fd/{descriptor}")] = os.fstat(descriptor).st_size

    monkeypatch.setattr(os, "fdatasync", note)
    assert MetadataLog.open(tmp_path, segment_bytes=500).durable_end_offset == 20
    written = {str(path): path.stat().st_size for path in tmp_path.glob("*.log")}
    assert len(written) > 1
    assert written.items() <= forced.items()


@pytest.mark.prevents("disk-on-the-loop")
def test_an_append_makes_no_system_call_and_waits_for_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = MetadataLog.open(tmp_path, segment_bytes=500)
    log.append(batch(0))
    begun, may_end = threading.Event(), threading.Event()

    def stalling(descriptor: int) -> None:
        begun.set()
        assert may_end.wait(SECONDS_MAX)

    monkeypatch.setattr(os, "fsync", stalling)
    thread = threading.Thread(target=log.flush)
    thread.start()
    assert begun.wait(SECONDS_MAX)
    content = (tmp_path / f"{0:020d}.log").read_bytes()
    try:
        for offset in range(1, 50):
            log.append(batch(offset))
            assert log.read_recent(offset, 1) == log.read(offset, 1) == batch(offset)
        assert [path.read_bytes() for path in tmp_path.glob("*.log")] == [content]
    finally:
        may_end.set()
        thread.join()
    assert log.durable_end_offset == 1
    assert log.flush() == log.durable_end_offset == 50
    log.close()


def test_what_was_cut_before_it_was_written_does_not_wait(tmp_path: Path) -> None:
    """Or the limit on that would be reached by truncations."""
    log = MetadataLog.open(tmp_path)
    log.append(batch(0))
    log.flush()
    size_bytes = log.size_bytes
    for offset in range(1, 4):
        log.append(batch(offset))
    log.truncate_to(1)
    assert (log.end_offset, log.size_bytes) == (1, size_bytes)
    log.append(batch(1))
    log.truncate_to(0)
    assert (log.end_offset, log.size_bytes) == (0, 0)


def test_a_disk_that_takes_nothing_for_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_log, "UNWRITTEN_BYTES_MAX", 200)
    log = MetadataLog.open(tmp_path)
    for offset in range(3):
        log.append(batch(offset))
    with pytest.raises(StorageError, match="accepts no writes"):
        log.append(batch(3))
    assert (log.flush(), log.append(batch(3))) == (3, 4)
    log.close()


def test_the_checkpoint_of_epochs_names_none_that_is_in_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who compares the two must not find the file ahead of the log, as if that had lost records."""
    log = MetadataLog.open(tmp_path)
    log.append(batch(0))

    def append_meanwhile(descriptor: int) -> None:
        if log.end_offset == 1:
            log.append(batch(1, epoch=2))

    monkeypatch.setattr(os, "fsync", append_meanwhile)
    assert log.flush() == 1
    assert read_leader_epochs(tmp_path) == [(1, 0)]
    assert log.flush() == 2
    assert read_leader_epochs(tmp_path) == [(1, 0), (2, 1)]


@pytest.mark.parametrize("seed", seeds(5))
def test_files_do_not_depend_on_how_often_is_flushed(tmp_path: Path, seed: int) -> None:
    """Segments roll where Kafka rolls them, batch by batch, however many are written together."""
    rng = random.Random(seed)
    open_log = partial(
        MetadataLog.open,
        segment_bytes=rng.choice([700, 5_000, 30_000]),
        segment_ms=rng.choice([20, 10**9]),
        index_bytes_max=rng.choice([24, 96, 4_096]),
    )
    batches = [batch(offset, 1 + offset // 100, 1, b"x" * rng.randrange(300)) for offset in range(300)]
    found: list[dict[str, bytes]] = []
    for flushes_share in (1.0, 0.1, 0.0):
        directory = tmp_path / str(flushes_share)
        log = open_log(directory)
        for data in batches:
            log.append(data)
            if rng.random() < flushes_share:
                log.flush()
        log.close()
        found.append({path.name: path.read_bytes() for path in directory.iterdir()})
    assert found[0] == found[1] == found[2]
