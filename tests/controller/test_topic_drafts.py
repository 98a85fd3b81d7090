"""A large topic is made in slices, and appears as a whole, as it would be made at that moment."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.topic_draft import (
    DRAFTED_PARTITIONS_MIN,
    DROPPED_DRAFTS_MAX,
    PARTITIONS_PER_UNIT,
)
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.active_controller import ActiveController
from tests.support.image_records import image_records
from tests.support.metadata_state import UNLIMITED

BROKERS = (1, 2, 3, 4)
UNITS = 100
LARGE = DRAFTED_PARTITIONS_MIN + 2 * UNITS * PARTITIONS_PER_UNIT


def started_brokers(units: int = UNITS) -> ActiveController:
    active = ActiveController()
    active.units = units
    active.start_brokers(*BROKERS, directories=2)
    return active


def creation(*names: str, partitions: int = LARGE, validate_only: bool = False) -> CreateTopicsRequest:
    topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=2) for name in names]
    return CreateTopicsRequest(topics=topics, validate_only=validate_only)


def by_hand(name: str) -> CreateTopicsRequest:
    assignments = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=[1 + index % 4, 1 + (index + 1) % 4])
        for index in range(LARGE)
    ]
    topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)
    return CreateTopicsRequest(topics=[topic])


def begin(active: ActiveController, request: Message) -> None:
    pending = active.pending(request)
    prepared = active.controller.prepare_request(pending, active.moment)
    assert prepared.rest is not None
    assert not prepared.changes_anything
    active.controller.continue_later(prepared.rest, pending, has_begun=False)


def meanwhile(active: ActiveController, request: Message) -> None:
    """A request of another, in one slice."""
    active.units, units = UNLIMITED, active.units
    pending = active.pending(request)
    prepared = active.controller.prepare_request(pending, active.moment)
    active.write_prepared(prepared)
    assert prepared.rest is None
    active.units = units


def beat(active: ActiveController, *, fence: bool) -> BrokerHeartbeatRequest:
    """Of broker 1, which wants to be fenced or not."""
    registration = active.controller.image.cluster.brokers[1]
    return BrokerHeartbeatRequest(
        broker_id=1,
        broker_epoch=registration.epoch,
        current_metadata_offset=active.end_offset - 1,
        want_fence=fence,
    )


def codes(response: Message | None) -> dict[str | None, Errors]:
    assert isinstance(response, CreateTopicsResponse)
    return {topic.name: Errors(topic.error_code) for topic in response.topics}


@pytest.mark.parametrize("validate_only", [False, True])
def test_slices_change_neither_answer_nor_image(validate_only: bool) -> None:
    whole, sliced = started_brokers(UNLIMITED), started_brokers()
    for request in (creation("a", "b", validate_only=validate_only), by_hand("c"), creation("a", "d")):
        assert sliced.request(request) == whole.request(request)
        assert image_records(sliced.controller.image) == image_records(whole.controller.image)


def test_more_than_one_request_may_have_is_refused_before_the_first_topic() -> None:
    active = started_brokers()
    before = active.end_offset
    refused = active.request(creation("a", "b", partitions=RECORDS_PER_BATCH_MAX // 2))
    assert set(codes(refused).values()) == {Errors.POLICY_VIOLATION}
    assert active.end_offset == before


def test_nothing_is_visible_before_all_of_it_is() -> None:
    active = started_brokers()
    begin(active, creation("a"))
    before = active.end_offset
    slices = 0
    while (response := active.take_slice()) is None:
        slices += 1
        assert active.end_offset == before
        assert active.controller.image.topics.topic_by_name("a") is None
    assert slices >= LARGE // (UNITS * PARTITIONS_PER_UNIT) - 1
    assert codes(response) == {"a": Errors.NONE}
    topic = active.controller.image.topics.topic_by_name("a")
    assert topic is not None
    assert len(topic.partitions) == LARGE
    assert active.end_offset == before + 1 + LARGE


def test_a_broker_that_is_fenced_meanwhile_is_in_no_isr() -> None:
    active = started_brokers()
    begin(active, creation("a"))
    active.take_slice()
    meanwhile(active, beat(active, fence=True))
    assert active.controller.image.topics.topic_by_name("a") is None
    active.finish_work()
    topic = active.controller.image.topics.topic_by_name("a")
    assert topic is not None
    assert {broker for partition in topic.partitions.values() for broker in partition.isr} == {2, 3, 4}


def test_a_name_that_is_taken_meanwhile_exists_already() -> None:
    active = started_brokers()
    begin(active, creation("a"))
    active.take_slice()
    meanwhile(active, creation("a", partitions=3))
    assert codes(active.finish_work()) == {"a": Errors.TOPIC_ALREADY_EXISTS}
    topic = active.controller.image.topics.topic_by_name("a")
    assert topic is not None
    assert len(topic.partitions) == 3


def test_it_ends_although_brokers_change_again_and_again() -> None:
    active = started_brokers()
    begin(active, creation("a"))
    slices, response = 0, None
    while response is None:
        slices += 1
        assert slices <= DROPPED_DRAFTS_MAX + 2
        meanwhile(active, beat(active, fence=slices % 2 == 1))
        response = active.take_slice()
    assert codes(response) == {"a": Errors.NONE}


def test_a_deleted_topic_can_be_created_again() -> None:
    active = started_brokers()
    active.request(creation("a"))
    active.request(
        DeleteTopicsRequest(timeout_ms=60_000, topics=[DeleteTopicState(name="a", topic_id=ZERO_UUID)])
    )
    assert codes(active.request(creation("a"))) == {"a": Errors.NONE}
