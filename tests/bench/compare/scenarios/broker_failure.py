"""A broker that leads thousands of partitions is fenced: until an observer has seen the last new leader.

The broker asks for it with WantFence, so that no session timeout is in the figure. Each round has a topic
and a broker of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from threading import Event
from typing import Final

from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from tests.bench.compare.figures import Figures
from tests.bench.compare.following import Following
from tests.bench.compare.prepared_brokers import assigned_topic, client, create, unfenced_brokers
from tests.bench.compare.quorum_state import quorum_state
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.support.wire.controller_client import (
    FAR_AHEAD,
    HEARTBEAT_VERSION,
    ControllerClient,
    StandInBroker,
)

BROKERS: Final = 40
OTHERS: Final = 2
"""The brokers to which leadership passes."""
OBSERVER_ID: Final = 1_000
PARTITIONS_PER_TOPIC: Final = 9_990
PARKED_S: Final = 0.2
"""After it the request of the observer waits at the controller."""
WARM_UP_ROUNDS: Final = 4


@dataclass
class State:
    """Brokers that fail, one in each round, and others."""

    running: Running
    connection: ControllerClient
    failing: Iterator[StandInBroker]
    others: list[int]
    numbers: Iterator[int]


def prepare(running: Running, brokers: int = BROKERS) -> State:
    connection = client(running.port)
    registered = unfenced_brokers(connection, running.controller.cluster_id, brokers)
    others = [broker.broker_id for broker in registered[:OTHERS]]
    return State(running, connection, iter(registered[OTHERS:]), others, count())


@contextmanager
def failures(state: State, leaderships: int, warm_up_rounds: int) -> Iterator[Measure]:
    rounds = iter([warm_up_rounds])

    def measure(_: float) -> Figures:
        for _ in range(next(rounds, 1) - 1):
            _fail_next(state, leaderships)
        return _fail_next(state, leaderships)

    yield measure


def _fail_next(state: State, leaderships: int) -> Figures:
    broker = next(state.failing)
    replicas = [broker.broker_id, *state.others]
    for begin in range(0, leaderships, PARTITIONS_PER_TOPIC):
        partitions = min(PARTITIONS_PER_TOPIC, leaderships - begin)
        create(state.connection, [assigned_topic(f"led-{next(state.numbers)}", partitions, replicas)])
    quorum = quorum_state(state.connection)
    # A change of each partition, and one of the broker's registration.
    end_offset = quorum.high_watermark + leaderships + 1
    observer = Following(state.running.controller.cluster_id, OBSERVER_ID, quorum, until_offset=end_offset)
    with state.running.load([observer]) as fetches:
        fetches.begin()
        Event().wait(PARKED_S)
        before_s, began_s = state.running.processor_s(), time.monotonic()
        _fence(state.connection, broker)
        seen = fetches.result()
        used_s = state.running.processor_s() - before_s
    assert quorum_state(state.connection).high_watermark == end_offset
    return {"total_ms": 1e3 * (seen.ended_s - began_s), "processor_us": 1e6 * used_s / leaderships}


def _fence(connection: ControllerClient, broker: StandInBroker) -> None:
    request = BrokerHeartbeatRequest(
        broker_id=broker.broker_id,
        broker_epoch=broker.broker_epoch,
        current_metadata_offset=FAR_AHEAD,
        want_fence=True,
    )
    answer = connection.call(request, HEARTBEAT_VERSION, BrokerHeartbeatResponse)
    assert answer.error_code == 0, answer


def load(leaderships: int, warm_up_rounds: int = WARM_UP_ROUNDS) -> Load:
    name = f"{leaderships:,} leaderships"
    return Load(name, partial(failures, leaderships=leaderships, warm_up_rounds=warm_up_rounds))


SETTINGS: Final = {
    **LONG_SESSION,
    # No records but those of changes: what is counted is what the fencing has written.
    "metadata.max.idle.interval.ms": "0",
}
SCENARIO: Final = Scenario(
    name="broker-failure",
    title="A broker is fenced: until an observer has seen the new leaders of its partitions",
    prepare=prepare,
    loads=(load(1_000), load(9_990)),
    settings=SETTINGS,
)
LARGE: Final = Scenario(
    name="broker-failure-large",
    title=SCENARIO.title,
    prepare=prepare,
    loads=(load(99_900, warm_up_rounds=1),),
    settings=SETTINGS,
    heap="4g",
)
