"""CreateTopics: many partitions in few requests, and few in many; brokers are chosen by the controller.

Topics are deleted after each round, which is not measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from tests.bench.compare.figures import Figures
from tests.bench.compare.frames import request_frame
from tests.bench.compare.prepared_brokers import TIMEOUT_MS, client, unfenced_brokers
from tests.bench.compare.running import Running
from tests.bench.compare.scenario import LONG_SESSION, Load, Measure, Scenario
from tests.bench.compare.scripts import OneByOne
from tests.support.wire.controller_client import ControllerClient

VERSION: Final = 7
DELETE_VERSION: Final = 6
BROKERS: Final = 20
REPLICATION_FACTOR: Final = 3
DELETED_AT_A_TIME: Final = 5_000
WARM_UP_ROUNDS: Final = 4


@dataclass
class State:
    """A controller with brokers."""

    running: Running
    connection: ControllerClient
    numbers: Iterator[int]


def prepare(running: Running, brokers: int = BROKERS) -> State:
    connection = client(running.port)
    unfenced_brokers(connection, running.controller.cluster_id, brokers)
    return State(running, connection, count())


@dataclass(frozen=True)
class Wanted:
    """`requests` with `topics` each, of so many partitions."""

    requests: int
    topics: int
    partitions: int

    @property
    def partitions_in_all(self) -> int:
        return self.requests * self.topics * self.partitions


@contextmanager
def creations(state: State, wanted: Wanted, warm_up_rounds: int) -> Iterator[Measure]:
    """The first window, which warms up, is several of them."""
    rounds = iter([warm_up_rounds])

    def measure(_: float) -> Figures:
        for _ in range(next(rounds, 1) - 1):
            _create_and_delete(state, wanted)
        return _create_and_delete(state, wanted)

    yield measure


def _create_and_delete(state: State, wanted: Wanted) -> Figures:
    number = next(state.numbers)
    batches = [
        [f"topic-{number}-{request}-{topic}" for topic in range(wanted.topics)]
        for request in range(wanted.requests)
    ]
    script = OneByOne(
        [_request(names, wanted.partitions) for names in batches], CreateTopicsRequest.API_KEY, VERSION
    )
    with state.running.load([script]) as load:
        # An operation of the load generator is a request.
        figures = state.running.measured(load.run, wanted.topics * wanted.partitions)
    _delete(state.connection, [name for names in batches for name in names])
    return figures


def _request(names: Sequence[str], partitions: int) -> bytes:
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=REPLICATION_FACTOR)
        for name in names
    ]
    return request_frame(CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS), VERSION)


def _delete(connection: ControllerClient, names: Sequence[str]) -> None:
    for begin in range(0, len(names), DELETED_AT_A_TIME):
        topics = [DeleteTopicState(name=name) for name in names[begin : begin + DELETED_AT_A_TIME]]
        request = DeleteTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
        answer = connection.call(request, DELETE_VERSION, DeleteTopicsResponse)
        assert {entry.error_code for entry in answer.responses} == {Errors.NONE}, answer


def counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def load(wanted: Wanted, warm_up_rounds: int = WARM_UP_ROUNDS) -> Load:
    topics = wanted.requests * wanted.topics
    name = f"{counted(topics, 'topic')} x {wanted.partitions:,}, {counted(wanted.requests, 'request')}"
    return Load(name, partial(creations, wanted=wanted, warm_up_rounds=warm_up_rounds))


SCENARIO: Final = Scenario(
    name="create-topics",
    title="CreateTopics: topics x partitions; figures are for one partition, latencies for requests",
    prepare=prepare,
    loads=(
        load(Wanted(1, 1, 9_999)),
        load(Wanted(4, 2_500, 1)),
        load(Wanted(100, 20, 1)),
        load(Wanted(20, 50, 100), warm_up_rounds=2),
    ),
    settings=LONG_SESSION,
)
