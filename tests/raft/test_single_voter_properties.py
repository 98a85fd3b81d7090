"""Random histories of a quorum of one, crashes included: what must hold after every step."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    HighWatermarkUpdated,
    RaftEffect,
    RespondFetch,
    WriteQuorumState,
)
from kraftctl.raft.events import DeadlineReached, ResignRequested
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batches
from tests.support.effort import examples
from tests.support.file_states import Aftermath
from tests.support.simulator.cluster.effect_lines import effect_line, render
from tests.support.simulator.cluster.raft_replica import RaftReplica
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.wire.raft_requests import REQUESTS

Step = tuple[str, *tuple[object, ...]]


class World:
    """One voter that crashes, one broker that fetches, and everything that was ever acknowledged."""

    def __init__(self, files: SimulatedFiles) -> None:
        self.lines: list[str] = []
        self.led: list[int] = []
        self.committed = 0
        self.epochs_on_disk: list[int] = []
        self.broker_offset = 0
        self.broker_epoch = 0
        self.broker_high_watermark = -1
        self.next_request_id = 1
        self.replica = RaftReplica(
            1, [1], files.disk("1"), dynamic=True, watch=self.watch, answered=self.answered
        )
        self.boot()

    def boot(self) -> None:
        assert self.replica.partition.log.end_offset >= self.committed, "Durability"
        self.high_watermark = -1
        self.broker_waits = False
        self.replica.begin()
        self.replica.start()

    def watch(self, effect: RaftEffect) -> None:
        self.lines.append(effect_line(effect))
        if isinstance(effect, BecameLeader):
            # SingleLeader, MonotonicEpoch: no epoch is led twice, whatever was lost.
            assert not self.led or effect.epoch > self.led[-1]
            self.led.append(effect.epoch)
            election = self.replica.partition.read_quorum_state()
            assert election is not None
            assert (election.leader_id, election.epoch) == (1, effect.epoch)
        elif isinstance(effect, HighWatermarkUpdated):
            # MonotonicHighWatermark within a process; Durability across crashes.
            assert effect.offset > self.high_watermark
            assert effect.offset <= self.replica.forced_end_offset()
            self.high_watermark = effect.offset
            self.committed = max(self.committed, effect.offset)
        elif isinstance(effect, AppendBatch):
            assert effect.base_offset >= self.committed
        elif isinstance(effect, WriteQuorumState):
            assert not self.epochs_on_disk or effect.state.epoch >= self.epochs_on_disk[-1]
            self.epochs_on_disk.append(effect.state.epoch)
        elif isinstance(effect, RespondFetch):
            assert effect.end_offset <= self.replica.forced_end_offset()

    def answered(self, request_id: int, response: Message) -> None:
        self.lines.append(f"{request_id}: {render(response)}")
        if not isinstance(response, FetchResponse):
            return
        self.broker_waits = False
        partition = response.responses[0].partitions[0]
        # A broker halts unless these hold.
        assert partition.error_code != Errors.INVALID_REQUEST
        assert response.node_endpoints or partition.current_leader.leader_id == -1
        assert partition.diverging_epoch.epoch == -1, "a broker never has what can be lost"
        if partition.high_watermark >= 0:
            assert partition.high_watermark >= self.broker_high_watermark
            assert partition.current_leader.leader_epoch == self.led[-1]
            self.broker_high_watermark = partition.high_watermark
        for batch in read_batches(partition.records or b""):
            assert batch.header.base_offset == self.broker_offset
            self.broker_offset = batch.header.last_offset + 1
            self.broker_epoch = batch.header.partition_leader_epoch

    # What may happen

    def append(self, count: int) -> None:
        if self.replica.node.is_leader:
            self.replica.append([b"x"] * count)

    def flush(self) -> None:
        if self.replica.is_flushing:
            self.replica.end_flush()

    def request(self, verb: str, words: dict[str, str]) -> None:
        request, version = REQUESTS[verb](words)
        self.replica.request(request, version, self.next_request_id)
        self.next_request_id += 1

    def fetch(self) -> None:
        words = {
            "replica": "101",
            "epoch": str(self.replica.node.epoch),
            "offset": str(self.broker_offset),
            "last-epoch": str(self.broker_epoch),
            "hw": str(self.broker_high_watermark),
        }
        if not self.broker_waits:
            self.broker_waits = True
            self.request("fetch", words)

    def sleep(self, duration_ms: int) -> None:
        self.replica.pass_time(duration_ms)
        self.replica.step(DeadlineReached())
        deadline_ms = self.replica.node.next_deadline_ms
        assert deadline_ms is None or deadline_ms > self.replica.now_ms

    def resign(self) -> None:
        self.replica.step(ResignRequested(self.replica.node.epoch))

    def stranger(self, epochs_ahead: int, leads: bool) -> None:
        epoch = self.replica.node.epoch + epochs_ahead
        words = {"epoch": str(epoch), "candidate": "2", "leader": "2"}
        self.request("begin-quorum-epoch" if leads else "vote", words)

    def lose_power(self, aftermath: Aftermath, seed: int) -> None:
        """The log may end anywhere between what was flushed and what was written."""
        self.replica.lose_power(aftermath, random.Random(seed))
        self.boot()

    def kill(self) -> None:
        self.replica.kill()
        self.boot()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(min_value=1, max_value=3)),
        st.tuples(st.just("flush")),
        st.tuples(st.just("fetch")),
        st.tuples(st.just("sleep"), st.integers(min_value=0, max_value=2500)),
        st.tuples(st.just("resign")),
        st.tuples(st.just("stranger"), st.integers(min_value=0, max_value=2), st.booleans()),
        st.tuples(st.just("lose_power"), st.sampled_from(Aftermath), st.integers(0, 7)),
        st.tuples(st.just("kill")),
    ),
    max_size=60,
)


def run(steps: list[Step]) -> list[str]:
    files = SimulatedFiles()
    with files.attach():
        world = World(files)
        for name, *arguments in steps:
            getattr(world, name)(*arguments)
            replica = world.replica
            assert replica.node.end_offset == replica.partition.log.end_offset
        live_on(world)
    return world.lines


def live_on(world: World) -> None:
    """ValuesEventuallyAcked: left alone, it leads and the broker has everything."""
    for _ in range(8):
        world.sleep(2500)
        world.flush()
        world.fetch()
    replica = world.replica
    assert replica.node.is_leader
    assert world.committed == replica.partition.log.end_offset == world.broker_offset
    assert world.broker_high_watermark == world.committed


@given(STEPS)
@examples(300)
def test_invariants(steps: list[Step]) -> None:
    run(steps)


@given(STEPS)
@examples(30)
def test_the_same_history_has_the_same_effects(steps: list[Step]) -> None:
    assert run(steps) == run(steps)
