"""DeleteTopics: by name and by id, and what a principal without rights may learn (KIP-4, KIP-516)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.delete_topics import delete_topics
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.authorization import ResourceType
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.uuids import ZERO_UUID
from tests.support.metadata_state import MetadataState, partition_record, uuid

VERSIONS = (1, 2, 3, 4, 5, 6)

Answer = tuple[str | None, bytes, Errors]


def foo_and_bar(**properties: str) -> MetadataState:
    state = MetadataState(properties={key.replace("__", "."): value for key, value in properties.items()})
    state.brokers(1)
    state.topic("foo", partition_record([1]), number=1)
    state.topic("bar", partition_record([1]), partition_record([1]), number=2)
    return state


def ask(state: MetadataState, request: DeleteTopicsRequest, version: int = 6) -> ControllerResult:
    request = DeleteTopicsRequest.decode(request.encode(version), version)
    result = delete_topics(state.controller, state.context(20, version), request, state.moment())
    assert isinstance(result.response, DeleteTopicsResponse)
    result.response.encode(version)
    assert result.is_atomic
    return result


def by_name(version: int, *names: str) -> DeleteTopicsRequest:
    if version >= 6:
        return DeleteTopicsRequest(timeout_ms=60_000, topics=[DeleteTopicState(name=name) for name in names])
    return DeleteTopicsRequest(timeout_ms=60_000, topic_names=list(names))


def by_id(*ids: bytes) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(
        timeout_ms=60_000, topics=[DeleteTopicState(topic_id=topic_id) for topic_id in ids]
    )


def answers(result: ControllerResult) -> set[Answer]:
    assert isinstance(result.response, DeleteTopicsResponse)
    return {(r.name, r.topic_id, Errors(r.error_code)) for r in result.response.responses}


@pytest.mark.parametrize("version", VERSIONS)
def test_by_name(version: int) -> None:
    state = foo_and_bar()
    state.config(TOPIC, "foo", retention__ms="1")
    result = state.apply(ask(state, by_name(version, "foo", "none"), version))
    assert answers(result) == {
        ("foo", uuid(1), Errors.NONE),
        ("none", ZERO_UUID, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    }
    assert [entry.record for entry in result.records] == [RemoveTopicRecord(topic_id=uuid(1))]
    assert state.image.topics.topic_by_name("foo") is None
    assert state.image.configurations.config(TOPIC, "foo") == {}
    assert state.image.topics.partition_count == 2


def test_by_id() -> None:
    result = ask(foo_and_bar(), by_id(uuid(2), uuid(9)))
    assert answers(result) == {
        ("bar", uuid(2), Errors.NONE),
        (None, uuid(9), Errors.UNKNOWN_TOPIC_ID),
    }


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        pytest.param(
            [DeleteTopicState()], {(None, ZERO_UUID, Errors.INVALID_REQUEST)}, id="neither-name-nor-id"
        ),
        pytest.param(
            [DeleteTopicState(name="foo", topic_id=uuid(1))],
            {("foo", uuid(1), Errors.INVALID_REQUEST)},
            id="name-and-id",
        ),
        pytest.param(
            [DeleteTopicState(name="foo"), DeleteTopicState(name="foo")],
            {("foo", ZERO_UUID, Errors.INVALID_REQUEST)},
            id="name-twice",
        ),
        pytest.param(
            [DeleteTopicState(topic_id=uuid(1)), DeleteTopicState(topic_id=uuid(1))],
            {(None, uuid(1), Errors.INVALID_REQUEST)},
            id="id-twice",
        ),
        pytest.param(
            [DeleteTopicState(topic_id=uuid(1)), DeleteTopicState(name="foo")],
            {("foo", uuid(1), Errors.INVALID_REQUEST)},
            id="name-of-an-id-given-too",
        ),
    ],
)
def test_ambiguous_requests_delete_nothing(topics: list[DeleteTopicState], expected: set[Answer]) -> None:
    result = ask(foo_and_bar(), DeleteTopicsRequest(timeout_ms=60_000, topics=topics))
    assert (answers(result), result.records) == (expected, [])


@pytest.mark.parametrize("version", VERSIONS)
def test_deletion_disabled(version: int) -> None:
    """delete.topic.enable=false."""
    result = ask(foo_and_bar(delete__topic__enable="false"), by_name(version, "foo", "none"), version)
    error = Errors.TOPIC_DELETION_DISABLED if version >= 3 else Errors.INVALID_REQUEST
    assert {answer[2] for answer in answers(result)} == {error}
    assert result.records == []


def test_strangers_learn_neither_names_nor_existence() -> None:
    state = foo_and_bar()
    state.allow_only((AclOperation.DESCRIBE, ResourceType.TOPIC, "bar"))
    denied = Errors.TOPIC_AUTHORIZATION_FAILED
    assert answers(ask(state, by_name(6, "foo", "none", "bar"))) == {
        ("foo", ZERO_UUID, denied),
        ("none", ZERO_UUID, denied),
        ("bar", ZERO_UUID, denied),
    }
    assert answers(ask(state, by_id(uuid(1), uuid(2)))) == {(None, uuid(1), denied), ("bar", uuid(2), denied)}


def test_delete_on_the_topic_is_enough() -> None:
    state = foo_and_bar()
    state.allow_only((AclOperation.DELETE, ResourceType.TOPIC, "bar"))
    assert answers(ask(state, by_name(6, "bar"))) == {("bar", uuid(2), Errors.NONE)}
    assert answers(ask(state, by_id(uuid(2)))) == {("bar", uuid(2), Errors.NONE)}
