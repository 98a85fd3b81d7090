"""KAFKA-17793: a heartbeat that came in time keeps its session, however long the events before it took."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.message import Message
from tests.node.test_containment import heartbeat, serving
from tests.support.simulator.cluster.lone_node import LoneNode

BROKERS = (1, 2, 3)

SESSION_MS = 9_000
"""broker.session.timeout.ms by default."""

BEFORE_MS = 500
"""The process is suspended so long before the sessions end, and resumed as long after that: no timer is so
late that it counts as a stall."""


def fenced_ids(node: LoneNode) -> list[int]:
    """Whose session ended; a heartbeat that was read too late has unfenced its broker again."""
    session = re.compile(r"The session of broker (\d+) at epoch \d+ has timed out")
    ended = [session.match(line) for line in node.notices]
    return sorted(int(found[1]) for found in ended if found is not None)


def in_the_socket(node: LoneNode, request: Message) -> Callable[[], None]:
    def read() -> None:
        node.send(request)

    return read


def bulk(number: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=f"topic-{number}", num_partitions=10, replication_factor=1)]
    )


def suspended_with(*waiting: Message, came_after_ms: int = 1) -> LoneNode:
    """A node that was suspended when the sessions of its brokers ended, and reads what waited meanwhile."""
    node = serving(*BROKERS)
    with node.attached():
        node.run_for(SESSION_MS - BEFORE_MS)
        node.process.freeze()
        node.run_for(came_after_ms)
        for each in waiting:
            node.process.lifetime.run(in_the_socket(node, each))
        node.run_for(2 * BEFORE_MS - 10 - came_after_ms)
        node.process.resume()
        node.settle()
        node.run_for(BEFORE_MS)
    return node


@pytest.mark.prevents("KAFKA-17793")
@pytest.mark.parametrize("came_after_ms", [1, BEFORE_MS - 1, BEFORE_MS + 1])
def test_heartbeats_that_wait_in_sockets_keep_their_sessions(came_after_ms: int) -> None:
    """The first one that is read must not end the sessions of the others, nor the timer that of the first."""
    beats = [heartbeat(serving(*BROKERS), broker_id) for broker_id in BROKERS]
    node = suspended_with(*beats, came_after_ms=came_after_ms)
    assert fenced_ids(node) == []
    node.pass_time(SESSION_MS)
    assert fenced_ids(node) == list(BROKERS)


def test_a_broker_whose_heartbeat_does_not_wait_is_fenced() -> None:
    beats = [heartbeat(serving(*BROKERS), broker_id) for broker_id in BROKERS]
    assert fenced_ids(suspended_with(*beats[:-1])) == [BROKERS[-1]]


@pytest.mark.prevents("KAFKA-17793")
def test_heartbeats_behind_bulk_work_keep_their_sessions() -> None:
    """A turn for each request, of less than a second: no turn alone looks like a stall of the process."""
    node = serving(*BROKERS)
    with node.attached():
        beats = [heartbeat(node, broker_id) for broker_id in BROKERS]
        for number in range(10):
            node.cluster.time.now_us += 950_000  # what the request before has taken
            node.send(bulk(number))
        for each in beats:
            node.send(each)
        node.settle()
        node.run_for(BEFORE_MS)
    assert fenced_ids(node) == []
