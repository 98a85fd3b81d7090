"""AlterPartition in closed loops: leaders take a follower out of the ISR of their partitions, and back in.

A leader has one request in flight, and waits for its response, which a controller gives once the change is on
disk and committed. Partition epochs count on with each change, so all frames are known beforehand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from kraftctl_protocol.generated import alter_partition_response
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from tests.bench.compare.counted import Counted
from tests.bench.compare.figures import Figures
from tests.bench.compare.following import Following
from tests.bench.compare.frames import answer_frame, request_frame
from tests.bench.compare.load_loop import Window
from tests.bench.compare.load_process import LoadProcess
from tests.bench.compare.observer_lag import lags_ms
from tests.bench.compare.prepared_brokers import assigned_topic, client, create, unfenced_brokers
from tests.bench.compare.quorum_state import quorum_state
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scripts import Stepping
from tests.bench.measure import percentile
from tests.support.wire.controller_client import ControllerClient, StandInBroker

VERSION: Final = 3
BROKERS: Final = 100
REPLICAS: Final = 3
FIRST_OBSERVER_ID: Final = 1_000


@dataclass
class State:
    """A controller with brokers; each load creates topics of its own."""

    running: Running
    connection: ControllerClient
    brokers: list[StandInBroker]
    loads: int = field(default=0)

    def topics(self, leaders: int, partitions: int) -> list[tuple[bytes, list[StandInBroker]]]:
        """For each leader the id of a topic, and the brokers of all of its partitions, itself first."""
        self.loads += 1
        around = self.brokers * 2
        replicas = [around[number : number + REPLICAS] for number in range(leaders)]
        ids = create(
            self.connection,
            [
                assigned_topic(f"load-{self.loads}-{number}", partitions, [one.broker_id for one in members])
                for number, members in enumerate(replicas)
            ],
        )
        return [(ids[f"load-{self.loads}-{number}"], members) for number, members in enumerate(replicas)]


def prepare(running: Running, brokers: int = BROKERS) -> State:
    connection = client(running.port)
    registered = unfenced_brokers(connection, running.controller.cluster_id, brokers)
    return State(running, connection, registered)


@contextmanager
def closed_loops(state: State, leaders: int, partitions: int, observers: int) -> Iterator[Measure]:
    """`leaders` brokers change all of their `partitions` at a time; one alone while `observers` fetch."""
    assert leaders == 1 or not observers
    scripts = [
        changes(topic_id, members, partitions) for topic_id, members in state.topics(leaders, partitions)
    ]
    cluster_id = state.running.controller.cluster_id
    quorum = quorum_state(state.connection)
    followers = [Following(cluster_id, FIRST_OBSERVER_ID + number, quorum) for number in range(observers)]
    with ExitStack() as stack:
        load = stack.enter_context(state.running.load(scripts))
        fetches = stack.enter_context(state.running.load(followers)) if observers else None

        if fetches is None:
            yield lambda seconds: state.running.measured(partial(load.run, seconds), partitions)
        else:
            yield lambda seconds: _observed(state, load, fetches, seconds, partitions)


def _observed(
    state: State, load: LoadProcess, fetches: LoadProcess, seconds: float, partitions: int
) -> Figures:
    """While observers fetch. There is one leader."""
    fetches.begin()
    load.run(seconds / 4)  # until all observers are at the end of the log
    begin_offset = quorum_state(state.connection).high_watermark
    windows: list[Window] = []

    def run() -> Window:
        windows.append(load.run(seconds))
        return windows[0]

    figures = state.running.measured(run, partitions)
    seen = fetches.stop()
    figures["fetches_per_s"] = seen.operations / seen.seconds
    lags = list(lags_ms(begin_offset, partitions, windows[0].notes[0], seen.notes))
    figures["lag_p50_ms"], figures["lag_p99_ms"] = percentile(lags, 0.5), percentile(lags, 0.99)
    return figures


def changes(topic_id: bytes, members: Sequence[StandInBroker], partitions: int) -> Stepping:
    """The first member leads; the last one leaves the ISR and returns, with a request each."""
    kinds = [
        (
            Counted(partial(_request, topic_id, isr, partitions)),
            Counted(partial(_answer, topic_id, isr, partitions)),
        )
        for isr in (members[:-1], members)
    ]
    return Stepping(kinds, AlterPartitionRequest.API_KEY, VERSION)


def _request(topic_id: bytes, isr: Sequence[StandInBroker], partitions: int, epoch: int) -> bytes:
    wanted = [
        PartitionData(
            partition_index=index,
            leader_epoch=0,
            new_isr_with_epochs=[
                BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch) for member in isr
            ],
            partition_epoch=epoch,
        )
        for index in range(partitions)
    ]
    request = AlterPartitionRequest(
        broker_id=isr[0].broker_id,
        broker_epoch=isr[0].broker_epoch,
        topics=[TopicData(topic_id=topic_id, partitions=wanted)],
    )
    return request_frame(request, VERSION)


def _answer(topic_id: bytes, isr: Sequence[StandInBroker], partitions: int, epoch: int) -> bytes:
    changed = [
        alter_partition_response.PartitionData(
            partition_index=index,
            leader_id=isr[0].broker_id,
            leader_epoch=0,
            isr=[member.broker_id for member in isr],
            partition_epoch=epoch,
        )
        for index in range(partitions)
    ]
    topic = alter_partition_response.TopicData(topic_id=topic_id, partitions=changed)
    return answer_frame(AlterPartitionResponse(topics=[topic]), VERSION)


def load(leaders: int, partitions: int, observers: int) -> Load:
    name = f"{leaders} {'broker' if leaders == 1 else 'brokers'} x {partitions}"
    return Load(
        f"{name}, {observers} observers" if observers else name,
        partial(closed_loops, leaders=leaders, partitions=partitions, observers=observers),
    )


SCENARIO: Final = Scenario(
    name="alter-partition",
    title="AlterPartition, closed loops: brokers x partitions in each request",
    prepare=prepare,
    loads=(
        load(1, 1, 0),
        load(1, 1, 20),
        load(20, 1, 0),
        load(100, 1, 0),
        load(20, 100, 0),
        load(100, 100, 0),
    ),
    settings={
        **LONG_SESSION,
        # No records but those of changes: offsets say which change an observer has seen.
        "metadata.max.idle.interval.ms": "0",
    },
    first=load(100, 1, 0),
)
