"""A request whose client has given up is not begun; one that has begun is carried out to its end.

What Kafka answers to requests without time is recorded: see `test_writes_of_java.py`.
"""

from __future__ import annotations

import pytest

from kraftctl.apis.request_size import RESPONSE_ENTRIES_MAX
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseTooLongError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from tests.support.active_controller import ActiveController

TIMEOUT_MS = 40


def timed() -> list[Message]:
    """One request of each API whose time counts; each could change something."""
    return [
        CreateTopicsRequest(topics=[CreatableTopic(name="new", num_partitions=1, replication_factor=1)]),
        DeleteTopicsRequest(topics=[DeleteTopicState(name="old")]),
        CreatePartitionsRequest(topics=[CreatePartitionsTopic(name="old", count=2)]),
        ElectLeadersRequest(topic_partitions=None),
        AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic("old", [ReassignablePartition(partition_index=0, replicas=[2])])]
        ),
    ]


def prepared() -> ActiveController:
    active = ActiveController()
    active.start_brokers(1, 2)
    active.create_topic("old")
    return active


def errors_of(response: object) -> set[int]:
    """The errors that are anywhere in it."""
    if isinstance(response, Message):
        found = {getattr(response, "error_code", 0)}
        return found.union(*[errors_of(getattr(response, field.name)) for field in response.FIELDS]) - {0}
    if isinstance(response, list):
        return set().union(*[errors_of(part) for part in response])
    return set()


def received_at(active: ActiveController, request: Message, received_ms: int) -> RequestContext:
    context = active.context(request, None)
    context.received_ms = received_ms
    return context


@pytest.mark.parametrize("number", range(len(timed())), ids=[request.NAME for request in timed()])
@pytest.mark.parametrize("waited_ms", [0, TIMEOUT_MS, TIMEOUT_MS + 1, 60_000])
def test_what_waited_too_long_is_not_begun(number: int, waited_ms: int) -> None:
    active, request = prepared(), timed()[number]
    request.timeout_ms = TIMEOUT_MS  # type: ignore[attr-defined]
    end_offset = active.end_offset
    response = active.request(request, context=received_at(active, request, active.now_ms - waited_ms))
    assert (errors_of(response) == {Errors.REQUEST_TIMED_OUT}) == (waited_ms > TIMEOUT_MS)
    if waited_ms > TIMEOUT_MS:
        assert active.end_offset == end_offset


@pytest.mark.parametrize("number", range(len(timed())), ids=[request.NAME for request in timed()])
@pytest.mark.parametrize("timeout_ms", [0, -1, -(2**31)])
def test_without_time_nothing_is_begun(number: int, timeout_ms: int) -> None:
    active, request = prepared(), timed()[number]
    request.timeout_ms = timeout_ms  # type: ignore[attr-defined]
    end_offset = active.end_offset
    assert errors_of(active.request(request)) == {Errors.REQUEST_TIMED_OUT}
    assert active.end_offset == end_offset
    assert any("waits" in line for line in active.controller.take_refusals())


@pytest.mark.parametrize("number", range(len(timed())), ids=[request.NAME for request in timed()])
def test_a_late_response_lists_no_more_than_another(number: int) -> None:
    """A million topics would take the loop half a second: their number is looked at first."""
    active, request = prepared(), timed()[number]
    request.timeout_ms = 0  # type: ignore[attr-defined]
    if isinstance(request, ElectLeadersRequest):
        request.topic_partitions = [TopicPartitions(topic="old")] * RESPONSE_ENTRIES_MAX
    else:
        request.topics = request.topics * RESPONSE_ENTRIES_MAX  # type: ignore[attr-defined]
    try:
        response = active.request(request)
    except ResponseTooLongError:
        return
    assert errors_of(response) == {Errors.POLICY_VIOLATION}


@pytest.mark.parametrize(
    "request_",
    [
        ListPartitionReassignmentsRequest(timeout_ms=0),
        UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("group.version", 1)], timeout_ms=0),
    ],
    ids=lambda request: request.NAME,
)
def test_the_time_of_other_requests_is_not_looked_at(request_: Message) -> None:
    active = prepared()
    assert not errors_of(active.request(request_, context=received_at(active, request_, 0)))


def started(active: ActiveController, request: Message) -> PendingRequest:
    """The request after its first slice, which comes in time."""
    pending = PendingRequest(1, received_at(active, request, active.now_ms), request)
    prepared_result = active.controller.prepare_request(pending, active.moment)
    active.write_prepared(prepared_result)
    assert prepared_result.rest is not None
    begun = prepared_result.changes_anything
    active.controller.continue_later(prepared_result.rest, pending, has_begun=begun)
    return pending


def test_a_rehearsal_is_not_continued_when_the_time_is_over() -> None:
    """A request that may be too large writes nothing before all of it is looked at."""
    active = prepared()
    active.units = 100
    topics = [
        CreatableTopic(name=f"t{number}", num_partitions=10, replication_factor=1) for number in range(1_000)
    ]
    request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    end_offset = active.end_offset
    pending = started(active, request)
    active.now_ms += TIMEOUT_MS + 1
    active.finish_work()
    assert errors_of(pending.response) == {Errors.REQUEST_TIMED_OUT}
    assert active.end_offset == end_offset


def test_what_has_begun_is_carried_out_when_the_time_is_over() -> None:
    active = prepared()
    names = [f"t{number}" for number in range(200)]
    for name in names:
        active.create_topic(name)
    active.units = 10
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names], timeout_ms=TIMEOUT_MS
    )
    assert len(names) < RECORDS_PER_BATCH_MAX
    pending = started(active, request)
    active.now_ms += TIMEOUT_MS + 1
    active.finish_work()
    assert not errors_of(pending.response)
    assert list(active.controller.image.topics.ids_by_name) == ["old"]
