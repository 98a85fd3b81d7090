"""Work in slices: others are answered in between, each slice is committed, a failover drops the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import UNITS, Moment
from kraftctl.node.sliced_turns import UNCOMMITTED_RECORDS_MAX, UNITS_BESIDE_WORK
from kraftctl.raft import events
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.simulator.cluster.lone_node import LoneNode

TOPIC = 2
RESIGNATION_MS = 3_000


class Counting(SlicedWork):
    """Writes `count` configs, one for each unit of a slice; raises before the one numbered `bad`."""

    def __init__(self, topic: str, count: int, bad: int, response: UnregisterBrokerResponse | None) -> None:
        super().__init__(f"write configs of {topic}")
        self.topic = topic
        self.left = count
        self.bad = bad
        self.response = response
        self.slices: list[int] = []
        self.failures = 0
        self.units_at_first = 0

    def next_slice(self, moment: Moment) -> ControllerResult:
        records: list[RecordAndVersion] = []
        while self.left and len(records) < moment.units:
            self.left -= 1
            if self.left == self.bad:
                raise ValueError("as planned")
            record = ConfigRecord(
                resource_type=TOPIC, resource_name=self.topic, name=f"k{self.left}", value="v"
            )
            records.append(RecordAndVersion(record, 0))
        self.spent = len(records)
        self.slices.append(len(records))
        if self.left:
            return ControllerResult.begun(records, self)
        return ControllerResult.of(records, self.response)

    def failed(self, moment: Moment) -> None:
        self.failures += 1


@pytest.fixture
def works() -> Iterator[list[Counting]]:
    """UnregisterBroker of broker N writes N configs in slices; a negative N fails in the middle."""
    before = HANDLERS[int(ApiKey.UNREGISTER_BROKER)]
    begun: list[Counting] = []

    def handler(state: Any, context: Any, request: Any, moment: Moment) -> ControllerResult:
        count = abs(request.broker_id)
        bad = count // 2 if request.broker_id < 0 else -1
        begun.append(Counting(f"t{len(begun)}", count, bad, UnregisterBrokerResponse()))
        begun[-1].units_at_first = moment.units
        return begun[-1].next_slice(Moment(moment.now_ms, moment.wall_ms, moment.next_offset, 3))

    HANDLERS[int(ApiKey.UNREGISTER_BROKER)] = handler
    yield begun
    HANDLERS[int(ApiKey.UNREGISTER_BROKER)] = before


def begin(node: LoneNode, count: int) -> int:
    return node.send(UnregisterBrokerRequest(broker_id=count))


def serving() -> LoneNode:
    node = LoneNode()
    node.settle()
    return node


def written(node: LoneNode, topic: str) -> int:
    return len(node.controller.image.configurations.config(TOPIC, topic))


def test_a_request_is_answered_when_its_last_slice_is_committed(works: list[Counting]) -> None:
    node = serving()
    request_id = begin(node, 500)
    assert written(node, "t0") == 3
    node.run_for(0)
    assert written(node, "t0") == 500
    assert sum(works[0].slices) == 500
    assert len(works[0].slices) > 50
    assert request_id not in node.answers
    node.settle()
    assert node.answers[request_id] == UnregisterBrokerResponse()
    assert not node.controller.has_work


def test_the_last_slice_before_a_wait_for_commits_is_measured_too(works: list[Counting]) -> None:
    """It is followed by a request for a turn that says what it spent, before the wait, and not after it."""
    node = serving()
    request_id = begin(node, UNCOMMITTED_RECORDS_MAX + 500)
    node.run_for(0)
    assert node.controller.has_work
    _, *later = works[0].slices
    assert node.process.turns.spent == sum(later)
    node.settle()
    assert node.answers[request_id] == UnregisterBrokerResponse()
    assert sum(works[0].slices) == UNCOMMITTED_RECORDS_MAX + 500


def test_what_begins_beside_long_work_does_little_at_first(works: list[Counting]) -> None:
    """A hundred requests that all begin long work are one turn of the loop."""
    node = serving()
    node.process.node._turns.units = 10_000
    for _ in range(3):
        begin(node, 500)
    assert [work.units_at_first for work in works] == [UNITS, UNITS_BESIDE_WORK, UNITS_BESIDE_WORK]
    node.settle()
    node.process.node._turns.units = 40
    begin(node, 500)
    assert works[-1].units_at_first == 40


def test_others_are_answered_between_slices(works: list[Counting]) -> None:
    node = serving()
    first = begin(node, 4)
    large = begin(node, 500)
    last = begin(node, 4)
    read = node.send(ListPartitionReassignmentsRequest())
    node.settle()
    assert isinstance(node.answers[read], ListPartitionReassignmentsResponse)
    assert [request_id for request_id in node.answers if request_id >= first] == [read, first, last, large]


def test_a_slice_that_fails_ends_its_own_request_alone(works: list[Counting]) -> None:
    node = serving()
    good, bad = begin(node, 200), begin(node, -200)
    node.settle()
    assert node.answers[good] == UnregisterBrokerResponse()
    assert node.answers[bad].error_code == Errors.UNKNOWN_SERVER_ERROR  # type: ignore[attr-defined]
    assert [work.failures for work in works] == [0, 1]
    assert 0 < written(node, "t1") < 100
    assert node.controller.active


def test_the_work_of_a_timer_fails_alone() -> None:
    node = serving()
    node.controller.continue_later(Counting("t", 40, 20, None), None)
    node.pass_time(1_000)
    assert 0 < written(node, "t") < 20
    assert any("Continuing to write configs of t failed" in line for line in node.notices)
    assert not node.controller.has_work


def test_a_failover_drops_the_rest_and_refuses_the_request(works: list[Counting]) -> None:
    node = serving()
    request_id = begin(node, 500)
    node.offer(events.ResignRequested(node.raft.epoch))
    node.run_for(0)
    assert node.answers[request_id].error_code == Errors.NOT_CONTROLLER  # type: ignore[attr-defined]
    node.pass_time(RESIGNATION_MS)
    assert node.controller.active
    assert not node.controller.has_work
    assert written(node, "t0") in (0, 3)
    assert begin(node, 5) not in node.answers
    node.settle()
    assert written(node, "t1") == 5


def test_a_client_that_is_gone_does_not_stop_the_work(works: list[Counting]) -> None:
    node = serving()
    request_id = begin(node, 100)
    node.cancel(request_id)
    node.settle()
    assert written(node, "t0") == 100
    assert request_id not in node.answers
