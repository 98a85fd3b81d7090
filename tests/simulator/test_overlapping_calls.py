"""Storage keeps its promises while its calls overlap on a simulated disk, and the process ends among them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.storage.batches import batch
from tests.support.effort import seeds
from tests.support.file_states import Aftermath
from tests.support.partitions import open_partition
from tests.support.simulator.disks.disk import SimulatedDisk
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.simulator.disks.storage_call import StorageCall, watch_locks

SEEDS = 40

LIVES = 12

SEGMENT_BYTES = 400


class Lives:
    """A flush, a vote and a snapshot may run at the same time; their results arrive in any order."""

    def __init__(self, disk: SimulatedDisk, rng: random.Random) -> None:
        self.disk = disk
        self.rng = rng
        self.partition = self.opened()
        self.epoch = 0
        self.voted_epoch = 0
        self.durable_end = 0
        self.snapshots: set[OffsetAndEpoch] = set()
        self.running: dict[str, tuple[StorageCall, Callable[[], None]]] = {}
        self.actions = [
            self.append,
            self.flush,
            self.vote,
            self.snapshot,
            self.clean,
            self.finish,
            self.finish,
        ]

    def opened(self) -> MetadataPartition:
        partition = open_partition(self.disk.root, segment_bytes=SEGMENT_BYTES)
        watch_locks(partition, self.disk)
        return partition

    def live(self) -> None:
        for _ in range(self.rng.randrange(60)):
            self.rng.choice(self.actions)()

    def append(self) -> None:
        if self.voted_epoch:
            self.partition.log.append(batch(self.partition.log.end_offset, self.voted_epoch))

    def start(self, thread: str, work: Callable[[], Callable[[], None]]) -> None:
        """`work` returns what its result promises; LATE calls promise it immediately."""
        if thread in self.running:
            return
        if self.rng.random() < 0.4:
            work()()
            return
        call = self.disk.begin()
        promise = work()
        self.disk.code_ended(call)
        self.running[thread] = (call, promise)

    def finish(self) -> None:
        if self.running:
            call, promise = self.running.pop(self.rng.choice(sorted(self.running)))
            self.disk.finish(call)
            promise()

    def flush(self) -> None:
        def work() -> Callable[[], None]:
            end_offset = self.partition.flush()

            def promise() -> None:
                self.durable_end = max(self.durable_end, end_offset)

            return promise

        self.start("flush", work)

    def vote(self) -> None:
        def work() -> Callable[[], None]:
            self.epoch += 1
            epoch = self.epoch
            self.partition.write_quorum_state(ElectionState(epoch=epoch, data_version=1))

            def promise() -> None:
                self.voted_epoch = epoch

            return promise

        self.start("storage", work)

    def snapshot(self) -> None:
        """Only of what is durable, as the high watermark is."""
        if self.durable_end == 0:
            return
        snapshot_id = OffsetAndEpoch(self.durable_end, self.partition.log.epoch_at(self.durable_end - 1))
        if snapshot_id in self.partition.snapshots.ids():
            return

        def work() -> Callable[[], None]:
            content = SnapshotBatches(snapshot_id.epoch, 0)
            self.partition.write_snapshot(snapshot_id, [content.header(0), content.footer()])
            return lambda: self.snapshots.add(snapshot_id)

        self.start("snapshot", work)

    def clean(self) -> None:
        def work() -> Callable[[], None]:
            self.partition.clean(0, retention_bytes=1, retention_ms=-1)
            newest = self.partition.snapshots.ids()[-1:]
            self.snapshots = {one for one in self.snapshots if one >= max(newest, default=one)}
            return lambda: None

        self.start("storage", work)

    def end(self) -> None:
        """The process is killed or loses power, and another one starts."""
        aftermath = self.rng.choice((None, *Aftermath))
        if aftermath is None:
            self.disk.kill(self.rng)
        else:
            self.disk.lose_power(aftermath, self.rng)
        self.running.clear()
        self.partition = self.opened()
        self.check()

    def check(self) -> None:
        partition = self.partition
        assert partition.recovering_epoch is None, partition.warnings
        assert partition.log.end_offset >= self.durable_end
        state = partition.read_quorum_state()
        assert self.voted_epoch <= (0 if state is None else state.epoch) <= self.epoch
        assert self.snapshots <= set(partition.snapshots.ids())
        self.voted_epoch = self.epoch = 0 if state is None else state.epoch
        self.durable_end = partition.log.end_offset


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_promises_are_kept(seed: int) -> None:
    files = SimulatedFiles()
    with files.attach():
        lives = Lives(files.disk("node-1"), random.Random(seed))
        for _ in range(LIVES):
            lives.live()
            lives.end()
