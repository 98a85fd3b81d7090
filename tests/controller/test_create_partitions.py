"""CreatePartitions: only ever more, with the topic's own replication factor (KIP-195)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.create_partitions import create_partitions
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.state.authorization import ResourceType
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from tests.support.metadata_state import MetadataState, directory, partition_record, uuid

VERSIONS = (0, 1, 2, 3)


def more(name: str = "foo", count: int = 3, *assignments: list[int]) -> CreatePartitionsTopic:
    given = [CreatePartitionsAssignment(broker_ids=broker_ids) for broker_ids in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=given or None)


def ask(
    state: MetadataState, *topics: CreatePartitionsTopic, version: int = 3, validate_only: bool = False
) -> ControllerResult:
    request = CreatePartitionsRequest(timeout_ms=60_000, topics=list(topics), validate_only=validate_only)
    request = CreatePartitionsRequest.decode(request.encode(version), version)
    result = create_partitions(state.controller, state.context(37, version), request, state.moment())
    assert isinstance(result.response, CreatePartitionsResponse)
    result.response.encode(version)
    assert result.is_atomic or not result.records
    return result


def codes(result: ControllerResult) -> list[tuple[str, Errors]]:
    assert isinstance(result.response, CreatePartitionsResponse)
    return [(answer.name, Errors(answer.error_code)) for answer in result.response.results]


def foo_on_1_and_2() -> MetadataState:
    state = MetadataState()
    state.brokers(1, 2, 3)
    state.broker(4, fenced=True)
    state.topic("foo", partition_record([1, 2]))
    return state


@pytest.mark.parametrize("version", VERSIONS)
def test_new_partitions_follow_the_present_ones(version: int) -> None:
    state = foo_on_1_and_2()
    result = state.apply(ask(state, more(count=3), version=version))
    assert codes(result) == [("foo", Errors.NONE)]
    for index in (1, 2):
        partition = state.partition(index)
        assert len(partition.replicas) == 2
        assert partition.leader == partition.isr[0]
        assert partition.leader_epoch == 0
    assert state.partition(0).partition_epoch == 10


def test_by_hand() -> None:
    state = foo_on_1_and_2()
    state.apply(ask(state, more("foo", 3, [3, 1], [4, 2])))
    assert state.partition(1).replicas == (3, 1)
    assert (state.partition(2).replicas, state.partition(2).isr, state.partition(2).leader) == (
        (4, 2),
        (2,),
        2,
    )


@pytest.mark.prevents("KAFKA-13861")
def test_validate_only_writes_nothing() -> None:
    """KAFKA-13861."""
    result = ask(foo_on_1_and_2(), more(), validate_only=True)
    assert (codes(result), result.records) == ([("foo", Errors.NONE)], [])


@pytest.mark.parametrize(
    ("topic", "error"),
    [
        pytest.param(more("bar"), Errors.UNKNOWN_TOPIC_OR_PARTITION, id="topic-unknown"),
        pytest.param(more(count=1), Errors.INVALID_PARTITIONS, id="same-count"),
        pytest.param(more(count=0), Errors.INVALID_PARTITIONS, id="fewer"),
        pytest.param(more("foo", 3, [1, 2]), Errors.INVALID_REPLICA_ASSIGNMENT, id="too-few-assignments"),
        pytest.param(more("foo", 2, [1]), Errors.INVALID_REPLICA_ASSIGNMENT, id="other-factor"),
        pytest.param(more("foo", 2, [1, 9]), Errors.INVALID_REPLICA_ASSIGNMENT, id="broker-unknown"),
        pytest.param(more("foo", 2, [1, 1]), Errors.INVALID_REPLICA_ASSIGNMENT, id="broker-twice"),
        pytest.param(more(count=10_002), Errors.POLICY_VIOLATION, id="too-many"),
    ],
)
def test_refusals(topic: CreatePartitionsTopic, error: Errors) -> None:
    result = ask(foo_on_1_and_2(), topic)
    assert (codes(result), result.records) == ([(topic.name, error)], [])


@pytest.mark.parametrize(
    ("topics", "error"),
    [
        pytest.param([more("foo", 5_001), more("bar", 5_001)], Errors.NONE, id="as-many-as-may-be"),
        pytest.param([more("foo", 5_001), more("bar", 5_002)], Errors.POLICY_VIOLATION, id="one-more"),
        pytest.param([more("foo", 2), more("bar", 10_002)], Errors.POLICY_VIOLATION, id="others-neither"),
        pytest.param(
            [more("foo", 2), more("bar", 10_002, [1])], Errors.POLICY_VIOLATION, id="before-all-other-errors"
        ),
        pytest.param(
            [more("foo", 5_001), more("none", 9_000)], Errors.NONE, id="unknown-topics-do-not-count"
        ),
        pytest.param([more("foo", 10_001), more("bar", -9)], Errors.NONE, id="fewer-is-no-difference"),
        pytest.param(
            [more("foo", 5_001), *[more("bar", 9_000)] * 2], Errors.NONE, id="topics-named-twice-do-not-count"
        ),
        pytest.param(
            [more("foo", 5_001), more("secret", 9_000)], Errors.NONE, id="topics-of-others-do-not-count"
        ),
        pytest.param(
            [more("foo", 2**31 - 1), more("bar", 2**31 - 1)], Errors.POLICY_VIOLATION, id="overflow"
        ),
    ],
)
def test_all_that_a_request_adds_is_limited(topics: list[CreatePartitionsTopic], error: Errors) -> None:
    state = foo_on_1_and_2()
    for number, name in enumerate(("bar", "secret"), start=2):
        state.topic(name, partition_record([1, 2]), number=number)
    granted = [(AclOperation.ALTER, ResourceType.TOPIC, name) for name in ("foo", "bar", "none")]
    state.allow_only(*granted)
    request = CreatePartitionsRequest(timeout_ms=60_000, topics=topics)
    result = create_partitions(state.controller, state.context(37, 3), request, state.moment())
    if error == Errors.NONE:
        assert result.response is None or ("foo", Errors.NONE) in codes(result)
    else:
        assert ({code for _, code in codes(result)}, result.records) == ({error}, [])


def test_a_broker_without_a_directory_for_new_replicas_is_refused() -> None:
    """KIP-1066. One directory that is not cordoned is enough; brokers are looked at by their ids."""
    state = foo_on_1_and_2()
    state.broker(3, directories=2, cordoned=[directory(3)])
    assert codes(ask(state, more("foo", 2, [1, 3]))) == [("foo", Errors.NONE)]
    state.broker(3, directories=2, cordoned=[directory(3), directory(3, 1)])
    for broker_ids, text in (([1, 3], "broker 3"), ([9, 3], "broker 3"), ([1, 9], "broker 9")):
        result = ask(state, more("foo", 2, broker_ids))
        assert codes(result) == [("foo", Errors.INVALID_REPLICA_ASSIGNMENT)]
        assert isinstance(result.response, CreatePartitionsResponse)
        assert text in str(result.response.results[0].error_message)


def test_without_an_active_broker() -> None:
    state = foo_on_1_and_2()
    for broker_id in (1, 2, 3):
        state.change_broker(broker_id, fenced=1)
    assert codes(ask(state, more())) == [("foo", Errors.INVALID_REPLICATION_FACTOR)]
    assert codes(ask(state, more("foo", 2, [1, 2]))) == [("foo", Errors.INVALID_REPLICA_ASSIGNMENT)]


def test_a_name_given_twice_is_refused_once() -> None:
    state = foo_on_1_and_2()
    state.topic("bar", partition_record([1, 2]), number=2)
    result = ask(state, more("foo"), more("bar"), more("foo", 5))
    assert codes(result) == [("foo", Errors.INVALID_REQUEST), ("bar", Errors.NONE)]
    assert {entry.record.topic_id for entry in result.records} == {uuid(2)}  # type: ignore[attr-defined]


def test_alter_on_the_topic_is_needed() -> None:
    state = foo_on_1_and_2()
    state.topic("bar", partition_record([1, 2]), number=2)
    state.allow_only((AclOperation.ALTER, ResourceType.TOPIC, "bar"))
    assert codes(ask(state, more("foo"), more("bar"))) == [
        ("foo", Errors.TOPIC_AUTHORIZATION_FAILED),
        ("bar", Errors.NONE),
    ]
