"""A quorum of three: what a change costs that two of them have to have on disk, and how long one fails over.

All three run on one machine, with one disk: what they use is the sum.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, Final

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.bench.compare.figures import Figures
from tests.bench.compare.prepared_brokers import assigned_topic, client, unfenced_brokers
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scenarios import alter_partition, create_topics
from tests.support.wire.controller_client import ControllerClient

VOTERS: Final = 3
BROKERS: Final = 100
NO_ELECTIONS: Final = {
    # Followers are suspended while others are measured; afterwards they fetch on from the same leader.
    "controller.quorum.fetch.timeout.ms": "3600000",
    "controller.quorum.request.timeout.ms": "3600000",
}
AFTER_KILL_SECONDS_MAX: Final = 60.0
CALL_SECONDS_MAX: Final = 2.0
"""A voter that does not answer is asked again."""
POLL_S: Final = 0.005


@dataclass
class State:
    """Brokers and topics of two scenarios on the same quorum."""

    changes: alter_partition.State
    creations: create_topics.State


def prepare(running: Running, brokers: int = BROKERS) -> State:
    changes = alter_partition.prepare(running, brokers)
    return State(changes, create_topics.State(running, changes.connection, count()))


@contextmanager
def changing(state: State, load: Load) -> Iterator[Measure]:
    with _settled(load, state.changes) as measure:
        yield measure


@contextmanager
def creating(state: State, load: Load) -> Iterator[Measure]:
    with _settled(load, state.creations) as measure:
        yield measure


@contextmanager
def _settled(load: Load, state: Any) -> Iterator[Measure]:
    """Each window begins once the followers have caught up: they were suspended."""
    with load.open(state) as measure:

        def after_followers(seconds: float) -> Figures:
            state.running.settle()
            return measure(seconds)

        yield after_followers


def load_changes(leaders: int) -> Load:
    inner = alter_partition.load(leaders, 1, 0)
    return Load(f"AlterPartition, {inner.name}", partial(changing, load=inner))


def load_creations(requests: int) -> Load:
    inner = create_topics.load(create_topics.Wanted(requests, 1, 1), warm_up_rounds=2)
    return Load(f"CreateTopics, {inner.name}", partial(creating, load=inner))


@dataclass
class Failing:
    """A quorum whose leaders are killed, one in each round."""

    running: Running
    numbers: Iterator[int]


def prepare_failing(running: Running) -> Failing:
    with client(running.port) as connection:
        unfenced_brokers(connection, running.controller.cluster_id, 1)
    return Failing(running, count())


@contextmanager
def kills(state: Failing) -> Iterator[Measure]:
    """kill -9; after it the voter starts again, which is not measured."""
    yield lambda _: _kill_leader(state)


def _kill_leader(state: Failing) -> Figures:
    running = state.running
    running.settle()
    leader = running.controller
    others = [controller.port for controller in running.controllers if controller is not leader]
    name = f"after-{next(state.numbers)}"
    began_s = time.monotonic()
    leader.kill()
    await_result(
        lambda: any(_created(port, name) for port in others),
        "a topic after the leader was killed",
        AFTER_KILL_SECONDS_MAX,
        POLL_S,
    )
    figures = {"failover_ms": 1e3 * (time.monotonic() - began_s)}
    leader.start()
    return figures


def _created(port: int, name: str) -> bool:
    """Whether this voter leads and has committed the topic, now or when it was asked before."""
    request = CreateTopicsRequest(topics=[assigned_topic(name, 1, [1])])
    try:
        with ControllerClient(port, timeout_s=CALL_SECONDS_MAX) as connection:
            answer = connection.call(request, create_topics.VERSION, CreateTopicsResponse).topics[0]
    except OSError:
        return False
    if answer.error_code in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
        return True
    assert answer.error_code in (Errors.NOT_CONTROLLER, Errors.REQUEST_TIMED_OUT), answer
    return False


def load_kills() -> Load:
    return Load("kill -9 of the leader", kills)


SCENARIO: Final = Scenario(
    name="quorum",
    title="A quorum of three on one machine; processor time is that of all three",
    prepare=prepare,
    loads=(load_changes(1), load_changes(20), load_changes(100), load_creations(200)),
    settings={**alter_partition.SCENARIO.settings, **NO_ELECTIONS},
    first=load_changes(100),
    voters=VOTERS,
)
FAILOVER: Final = Scenario(
    name="failover",
    title="The leader of three is killed: until one of the others has acknowledged a new topic",
    prepare=prepare_failing,
    loads=(load_kills(),),
    settings=LONG_SESSION,
    voters=VOTERS,
)
