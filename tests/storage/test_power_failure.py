"""The disk fails at every call of a long history: acknowledged data is not lost, and none is invented."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.storage.batches import batch
from tests.support.effort import FIRST_SEED
from tests.support.file_states import Aftermath
from tests.support.partitions import open_partition
from tests.support.simulator.disks.disk import ProcessEnded, SimulatedDisk
from tests.support.simulator.disks.files import SimulatedFiles

SEGMENT_BYTES = 400
NEVER = 10**9


class Promises:
    """What storage has confirmed, and what it is doing right now."""

    def __init__(self) -> None:
        self.batches: dict[int, bytes] = {}
        self.pending_batches: dict[int, bytes] | None = None
        self.durable_end = 0
        self.start = 0
        self.votes = {-1}
        self.snapshots: set[OffsetAndEpoch] = set()


class Life:
    """Appends, flushes, truncations, snapshots, clean-ups and votes, always in the same order."""

    def __init__(self, log_dir: Path) -> None:
        self.log_dir = log_dir
        self.promises = Promises()
        self.epoch = 1

    def live(self) -> None:
        now_ms = partial(next, count(step=400))
        self.partition = open_partition(self.log_dir, segment_bytes=SEGMENT_BYTES, now_ms=now_ms)
        self._vote(1)
        self._append(7)
        self._flush()
        self._append(3)
        self._truncate(4)
        self.epoch = 2
        self._vote(2)
        self._append(9)
        self._flush()
        self._snapshot(6)
        self._snapshot(10)
        self._clean(10)
        self._append(2)
        self._flush()
        self._start_over(40)
        self._append(2)
        self._flush()
        self.partition.close()

    def _append(self, count: int) -> None:
        for _ in range(count):
            offset = self.partition.log.end_offset
            data = batch(offset, self.epoch)
            self._change(self.promises.batches | {offset: data}, partial(self.partition.log.append, data))

    def _flush(self) -> None:
        self.promises.durable_end = self.partition.flush()

    def _truncate(self, offset: int) -> None:
        self.promises.durable_end = min(self.promises.durable_end, offset)
        kept = {at: data for at, data in self.promises.batches.items() if at < offset}
        self._change(kept, lambda: self.partition.truncate_log(offset))

    def _vote(self, epoch: int) -> None:
        before = self.promises.votes
        self.promises.votes = before | {epoch}
        self.partition.write_quorum_state(ElectionState(epoch=epoch, data_version=1))
        self.promises.votes = {epoch}

    def _snapshot(self, offset: int) -> None:
        snapshot_id = OffsetAndEpoch(offset, self.epoch)
        self.partition.write_snapshot(snapshot_id, _content(self.epoch))
        self.promises.snapshots.add(snapshot_id)

    def _clean(self, offset: int) -> None:
        self.promises.snapshots = {one for one in self.promises.snapshots if one.offset >= offset}
        cleaned = self.partition.clean(0, retention_bytes=1, retention_ms=-1)
        assert cleaned is not None
        assert cleaned.start_offset == offset
        self.promises.start = offset

    def _start_over(self, offset: int) -> None:
        """The state after a snapshot was fetched: it exists before the log is dropped."""
        self.promises.pending_batches = {}
        self.promises.snapshots = set()
        snapshot_id = OffsetAndEpoch(offset, self.epoch)
        self.partition.write_snapshot(snapshot_id, _content(self.epoch))
        self.promises.snapshots = {snapshot_id}
        self.promises.durable_end = offset
        self.partition.start_over_at(snapshot_id)
        self.promises.batches = {}
        self.promises.pending_batches = None

    def _change(self, after: dict[int, bytes], action: Callable[[], object]) -> None:
        self.promises.pending_batches = after
        action()
        self.promises.batches = after
        self.promises.pending_batches = None


def _content(epoch: int) -> list[bytes]:
    content = SnapshotBatches(epoch, 0)
    return [content.header(0), content.footer()]


def _check(partition: MetadataPartition, promises: Promises) -> None:
    log = partition.log
    assert partition.recovering_epoch is None, partition.warnings
    assert log.end_offset >= promises.durable_end
    assert promises.snapshots <= set(partition.snapshots.ids())
    assert all(list(partition.snapshots.reader(snapshot_id).batches()) for snapshot_id in promises.snapshots)
    newest = partition.snapshots.latest_id()
    assert log.start_offset == 0 or (newest is not None and newest.offset >= log.start_offset)
    state = partition.read_quorum_state()
    assert (-1 if state is None else state.epoch) in promises.votes
    found: dict[int, bytes] = {}
    offset = log.start_offset
    while offset < log.end_offset:
        data = log.read(offset, 1)
        found[offset] = data
        offset = read_batches(data)[-1].header.last_offset + 1
    allowed = [promises.batches]
    if promises.pending_batches is not None:
        allowed.append(promises.pending_batches)
    assert any(found.items() <= candidate.items() for candidate in allowed)


def _live_until(disk: SimulatedDisk, fail_at: int) -> tuple[Promises, bool]:
    life = Life(disk.root)
    disk.calls_left = fail_at - 1
    try:
        life.live()
    except ProcessEnded:
        return life.promises, False
    disk.calls_left = None
    return life.promises, True


def _fail_and_check(fail_at: int, aftermath: Aftermath | None) -> bool:
    """One life that ends at `fail_at`, and the next start. False when that call was never made.

    Without an aftermath the process is killed, and the power does not fail.
    """
    files = SimulatedFiles()
    disk = files.disk("node-1")
    rng = random.Random(FIRST_SEED * 10_000 + fail_at)
    with files.attach():
        promises, survived = _live_until(disk, fail_at)
        if survived:
            return False
        if aftermath is None:
            disk.kill(rng)
        else:
            disk.lose_power(aftermath, rng)
        partition = open_partition(disk.root, segment_bytes=SEGMENT_BYTES)
        _check(partition, promises)
        partition.log.append(batch(partition.log.end_offset, epoch=9))
        partition.close()
    return True


def _fail_at_every_call(aftermath: Aftermath | None) -> int:
    """How many calls there were to fail at."""
    fail_at = 1
    while _fail_and_check(fail_at, aftermath):
        fail_at += 1
    return fail_at - 1


AFTERMATHS = [
    pytest.param(None, id="killed"),
    pytest.param(Aftermath.STRICT, id="only-flushed"),
    pytest.param(Aftermath.PREFIX, id="torn"),
    pytest.param(Aftermath.PAGES, id="out-of-order"),
]


@pytest.mark.parametrize("aftermath", AFTERMATHS)
def test_power_fails_at_every_call(aftermath: Aftermath | None) -> None:
    files = SimulatedFiles()
    with files.attach():
        promises, survived = _live_until(files.disk("node-1"), NEVER)
    assert survived
    assert promises.durable_end == 42
    assert _fail_at_every_call(aftermath) > 100


def test_a_disk_that_forces_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks the checker."""
    monkeypatch.setattr(SimulatedDisk, "fsync", lambda disk, state: None)
    with pytest.raises((AssertionError, StorageError)):
        _fail_at_every_call(Aftermath.STRICT)
