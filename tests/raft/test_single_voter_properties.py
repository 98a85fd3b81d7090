"""Random histories of a quorum of one, crashes included: what must hold after every step."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    FlushLog,
    HighWatermarkUpdated,
    RaftEffect,
    Respond,
    RespondFetch,
    WriteQuorumState,
)
from kraftctl.raft.events import DeadlineReached, LogFlushed, RequestReceived, ResignRequested, Started
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.effort import examples
from tests.support.simulator.raft_disk import RaftDisk
from tests.support.simulator.raft_transcript import directory_id, effect_line, voter_node
from tests.support.wire.raft_requests import REQUESTS


class World:
    """One voter that crashes, one broker that fetches, and everything that was ever acknowledged."""

    def __init__(self) -> None:
        self.disk = RaftDisk()
        self.disk.bootstrap_voters = VoterSet([voter_node(1)])
        self.disk.snapshots = [SnapshotInfo(OffsetAndEpoch(0, 0), 241)]
        self.now_ms = 0
        self.lines: list[str] = []
        self.led: list[int] = []
        self.committed = 0
        self.epochs_on_disk: list[int] = []
        self.flushing: FlushLog | None = None
        self.broker_offset = 0
        self.broker_epoch = 0
        self.broker_high_watermark = -1
        self.unanswered: set[int] = set()
        self.next_request_id = 1
        self.boot()

    def boot(self) -> None:
        self.flushing = None
        self.unanswered.clear()
        self.high_watermark = -1
        voters, versions = self.disk.histories()
        self.node = RaftNode(
            node_id=1,
            directory_id=directory_id(1),
            cluster_id="cluster",
            endpoints=voter_node(1).endpoints,
            config=RaftConfig(),
            rng=random.Random(7),
            log=self.disk.log_state(),
            quorum_state=self.disk.quorum_state,
            static_voters=VoterSet([]),
            voter_history=voters,
            kraft_version_history=versions,
        )
        self.do(self.node.step(Started(), self.now_ms, self.now_ms))

    def do(self, effects: list[RaftEffect]) -> None:
        for effect in effects:
            self.lines.append(effect_line(effect))
            self.disk.apply(effect)
            self.check(effect)
        assert self.node.end_offset == self.disk.end_offset

    def check(self, effect: RaftEffect) -> None:
        if isinstance(effect, BecameLeader):
            # SingleLeader, MonotonicEpoch: no epoch is led twice, whatever was lost.
            assert not self.led or effect.epoch > self.led[-1]
            self.led.append(effect.epoch)
            assert self.disk.quorum_state is not None
            assert self.disk.quorum_state.leader_id == 1
            assert self.disk.quorum_state.epoch == effect.epoch
        elif isinstance(effect, HighWatermarkUpdated):
            # MonotonicHighWatermark within a process; Durability across crashes.
            assert effect.offset > self.high_watermark
            assert effect.offset <= self.disk.flushed_offset
            self.high_watermark = effect.offset
            self.committed = max(self.committed, effect.offset)
        elif isinstance(effect, FlushLog):
            assert self.flushing is None
            self.flushing = effect
        elif isinstance(effect, AppendBatch):
            assert effect.base_offset >= self.committed
        elif isinstance(effect, WriteQuorumState):
            assert not self.epochs_on_disk or effect.state.epoch >= self.epochs_on_disk[-1]
            self.epochs_on_disk.append(effect.state.epoch)
        elif isinstance(effect, RespondFetch):
            assert effect.end_offset <= self.disk.flushed_offset
            self.answered(effect.request_id, effect.response)
            for batch in self.disk.read(effect.read_offset, effect.end_offset, effect.max_bytes):
                assert batch.base_offset == self.broker_offset
                self.broker_offset, self.broker_epoch = batch.last_offset + 1, batch.epoch
        elif isinstance(effect, Respond) and isinstance(effect.response, FetchResponse):
            self.answered(effect.request_id, effect.response)

    def answered(self, request_id: int, response: FetchResponse) -> None:
        self.unanswered.remove(request_id)
        partition = response.responses[0].partitions[0]
        # A broker halts unless these hold.
        assert partition.error_code != Errors.INVALID_REQUEST
        assert response.node_endpoints or partition.current_leader.leader_id == -1
        assert partition.diverging_epoch.epoch == -1, "a broker never has what can be lost"
        if partition.high_watermark >= 0:
            assert partition.high_watermark >= self.broker_high_watermark
            assert partition.current_leader.leader_epoch == self.led[-1]
            self.broker_high_watermark = partition.high_watermark

    # What may happen

    def append(self, count: int) -> None:
        if self.node.is_leader:
            self.do(self.node.append([b"x"] * count, self.now_ms, self.now_ms)[1])

    def flush(self) -> None:
        if self.flushing is not None:
            flushed = self.disk.flush(self.flushing)
            self.flushing = None
            self.do(self.node.step(LogFlushed(flushed), self.now_ms, self.now_ms))

    def fetch(self) -> None:
        words = {
            "replica": "101",
            "epoch": str(self.node.epoch),
            "offset": str(self.broker_offset),
            "last-epoch": str(self.broker_epoch),
            "hw": str(self.broker_high_watermark),
        }
        if self.unanswered:
            return
        request, version = REQUESTS["fetch"](words)
        self.unanswered.add(self.next_request_id)
        event = RequestReceived(self.next_request_id, "CONTROLLER", 1, version, request)
        self.next_request_id += 1
        self.do(self.node.step(event, self.now_ms, self.now_ms))

    def sleep(self, duration_ms: int) -> None:
        self.now_ms += duration_ms
        self.do(self.node.step(DeadlineReached(), self.now_ms, self.now_ms))
        deadline_ms = self.node.next_deadline_ms
        assert deadline_ms is None or deadline_ms > self.now_ms

    def resign(self) -> None:
        self.do(self.node.step(ResignRequested(self.node.epoch), self.now_ms, self.now_ms))

    def stranger(self, epochs_ahead: int, leads: bool) -> None:
        epoch = self.node.epoch + epochs_ahead
        words = {"epoch": str(epoch), "candidate": "2", "leader": "2"}
        verb = "begin-quorum-epoch" if leads else "vote"
        request, version = REQUESTS[verb](words)
        event = RequestReceived(0, "CONTROLLER", type(request).API_KEY, version, request)
        self.do(self.node.step(event, self.now_ms, self.now_ms))

    def crash(self, on_disk_at_least: int) -> None:
        """The log may end anywhere between what was flushed and what was written."""
        self.disk.flushed_offset = max(
            [
                batch.last_offset + 1
                for batch in self.disk.batches
                if batch.last_offset + 1 <= self.disk.flushed_offset + on_disk_at_least
            ],
            default=0,
        )
        self.disk.crash()
        assert self.disk.end_offset >= self.committed, "Durability"
        self.boot()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(min_value=1, max_value=3)),
        st.tuples(st.just("flush")),
        st.tuples(st.just("fetch")),
        st.tuples(st.just("sleep"), st.integers(min_value=0, max_value=2500)),
        st.tuples(st.just("resign")),
        st.tuples(st.just("stranger"), st.integers(min_value=0, max_value=2), st.booleans()),
        st.tuples(st.just("crash"), st.integers(min_value=0, max_value=3)),
    ),
    max_size=60,
)


def run(steps: list[tuple[str, ...]]) -> list[str]:
    world = World()
    for name, *arguments in steps:
        getattr(world, name)(*arguments)
    # ValuesEventuallyAcked: left alone, it leads and the broker has everything.
    for _ in range(8):
        world.sleep(2500)
        world.flush()
        world.fetch()
    assert world.node.is_leader
    assert world.committed == world.disk.end_offset == world.broker_offset
    assert world.broker_high_watermark == world.committed
    return world.lines


@given(STEPS)
@examples(300)
def test_invariants(steps: list[tuple[str, ...]]) -> None:
    run(steps)


@given(STEPS)
@examples(30)
def test_the_same_history_has_the_same_effects(steps: list[tuple[str, ...]]) -> None:
    assert run(steps) == run(steps)
