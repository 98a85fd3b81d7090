"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455, KIP-860)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.alter_partition import alter_partition
from kraftctl.controller.replication_control.reassign_partitions import (
    alter_partition_reassignments,
    list_partition_reassignments,
)
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, directory, partition_record, uuid


def ask(
    state: MetadataState,
    replicas: list[int] | None,
    *,
    index: int = 0,
    topic: str = "foo",
    version: int = 1,
    allow_factor_change: bool = True,
) -> ControllerResult:
    request = AlterPartitionReassignmentsRequest(
        allow_replication_factor_change=allow_factor_change,
        topics=[
            ReassignableTopic(
                name=topic, partitions=[ReassignablePartition(partition_index=index, replicas=replicas)]
            )
        ],
    )
    request = AlterPartitionReassignmentsRequest.decode(request.encode(version), version)
    result = alter_partition_reassignments(
        state.controller, state.context(45, version), request, state.moment()
    )
    assert isinstance(result.response, AlterPartitionReassignmentsResponse)
    result.response.encode(version)
    assert result.is_atomic
    assert result.response.error_code == 0
    return result


def error_of(result: ControllerResult) -> Errors:
    assert isinstance(result.response, AlterPartitionReassignmentsResponse)
    return Errors(result.response.responses[0].partitions[0].error_code)


def change(**fields: object) -> PartitionChangeRecord:
    return PartitionChangeRecord(partition_id=0, topic_id=uuid(1), **fields)  # type: ignore[arg-type]


def only_record(result: ControllerResult) -> PartitionChangeRecord:
    assert [entry.version for entry in result.records] == [2]
    record = result.records[0].record
    assert isinstance(record, PartitionChangeRecord)
    return record


def set_isr(state: MetadataState, leader: int, isr: list[int]) -> ControllerResult:
    partition = state.partition()
    data = PartitionData(
        partition_index=0,
        leader_epoch=int(partition.leader_epoch),
        partition_epoch=int(partition.partition_epoch),
        new_isr_with_epochs=[BrokerState(broker_id=member) for member in isr],
    )
    request = AlterPartitionRequest(
        broker_id=leader,
        broker_epoch=BROKER_EPOCH + leader,
        topics=[TopicData(topic_id=uuid(1), partitions=[data])],
    )
    return state.apply(alter_partition(state.controller, state.context(56, 3), request, state.moment()))


def listed(state: MetadataState, *names: tuple[str, list[int]]) -> list[OngoingTopicReassignment]:
    topics = [ListPartitionReassignmentsTopics(name=n, partition_indexes=i) for n, i in names] or None
    request = ListPartitionReassignmentsRequest(topics=topics)
    result = list_partition_reassignments(state.controller, state.context(46, 0), request, state.moment())
    assert result.records == []
    assert isinstance(result.response, ListPartitionReassignmentsResponse)
    return result.response.topics


def foo_on_31(record: object = None) -> MetadataState:
    state = MetadataState()
    state.brokers(31, 32, 33, 34)
    state.topic("foo", partition_record([31]) if record is None else record)  # type: ignore[arg-type]
    return state


@pytest.mark.parametrize("version", [0, 1])
def test_a_move_as_kafka_records_it(version: int) -> None:
    """Start, catch up, finish: the leader's ISR change completes it and moves the leadership."""
    state = foo_on_31()
    started = state.apply(ask(state, [32], version=version))
    assert error_of(started) == Errors.NONE
    assert only_record(started) == change(
        replicas=[32, 31],
        removing_replicas=[31],
        adding_replicas=[32],
        directories=[directory(32), directory(31)],
    )
    assert state.partition().leader == 31
    finished = set_isr(state, 31, [31, 32])
    assert only_record(finished) == change(
        isr=[32],
        leader=32,
        replicas=[32],
        removing_replicas=[],
        adding_replicas=[],
        directories=[directory(32)],
    )


def test_a_cancelled_move_as_kafka_records_it() -> None:
    """The leader is repeated: replicas that go must not fetch under the old epoch."""
    state = foo_on_31()
    state.apply(ask(state, [32]))
    cancelled = state.apply(ask(state, None))
    assert only_record(cancelled) == change(
        leader=31, replicas=[31], removing_replicas=[], adding_replicas=[], directories=[directory(31)]
    )
    assert not state.partition().reassigning


@pytest.mark.parametrize(
    ("target", "replicas", "leader_epoch"),
    [
        pytest.param([33, 31, 32], (33, 31, 32), 5, id="pure-reorder"),
        pytest.param([31, 32], (31, 32), 6, id="shrink-all-in-sync"),
        pytest.param([32, 33], (32, 33), 6, id="shrink-moves-the-leader"),
    ],
)
def test_a_reassignment_that_can_complete_immediately_does(
    target: list[int], replicas: tuple[int, ...], leader_epoch: int
) -> None:
    state = foo_on_31(partition_record([31, 32, 33]))
    result = state.apply(ask(state, target))
    assert only_record(result).adding_replicas is None
    partition = state.partition()
    assert (partition.replicas, partition.reassigning) == (replicas, False)
    assert partition.leader_epoch == leader_epoch
    assert set(partition.isr) == set(replicas)
    assert partition.leader in replicas


def test_the_same_assignment_is_no_change() -> None:
    state = foo_on_31()
    result = ask(state, [31])
    assert (error_of(result), result.records) == (Errors.NONE, [])


def test_a_new_target_replaces_the_one_under_way() -> None:
    """The added replicas are removed again."""
    state = foo_on_31()
    state.apply(ask(state, [32]))
    state.apply(ask(state, [33]))
    partition = state.partition()
    assert partition.replicas == (33, 31, 32)
    assert (partition.adding_replicas, partition.removing_replicas) == ((33,), (31, 32))


REFUSALS = [
    pytest.param({"topic": "bar"}, [31], Errors.UNKNOWN_TOPIC_OR_PARTITION, id="topic-unknown"),
    pytest.param({"index": 4}, [31], Errors.UNKNOWN_TOPIC_OR_PARTITION, id="partition-unknown"),
    pytest.param({}, [], Errors.INVALID_REPLICA_ASSIGNMENT, id="no-replicas"),
    pytest.param({}, [32, 32], Errors.INVALID_REPLICA_ASSIGNMENT, id="replica-twice"),
    pytest.param({}, [99], Errors.INVALID_REPLICA_ASSIGNMENT, id="broker-unknown"),
    pytest.param({}, None, Errors.NO_REASSIGNMENT_IN_PROGRESS, id="nothing-to-cancel"),
    pytest.param(
        {"allow_factor_change": False}, [31, 32], Errors.INVALID_REPLICATION_FACTOR, id="factor-kept"
    ),
]


@pytest.mark.parametrize(("options", "replicas", "error"), REFUSALS)
def test_refusals(options: dict[str, object], replicas: list[int] | None, error: Errors) -> None:
    result = ask(foo_on_31(), replicas, **options)  # type: ignore[arg-type]
    assert (error_of(result), result.records) == (error, [])


def test_all_replicas_of_the_target_need_a_directory_that_is_not_cordoned() -> None:
    """KIP-1066. As in Kafka, those that stay as well; cancelling asks for nothing."""
    state = foo_on_31()
    state.apply(ask(state, [31, 32]))
    state.broker(31, cordoned=[directory(31)])
    for replicas in ([31, 33], [33, 31], [31]):
        result = ask(state, replicas)
        assert (error_of(result), result.records) == (Errors.INVALID_REPLICA_ASSIGNMENT, [])
    assert error_of(ask(state, [33])) == Errors.NONE
    assert error_of(ask(state, None)) == Errors.NONE


def test_the_factor_to_keep_is_that_of_the_target_under_way() -> None:
    """KIP-860."""
    state = foo_on_31()
    state.apply(ask(state, [32, 33]))
    assert error_of(ask(state, [33, 34], allow_factor_change=False)) == Errors.NONE
    assert error_of(ask(state, [33], allow_factor_change=False)) == Errors.INVALID_REPLICATION_FACTOR


@pytest.mark.parametrize("allowed", [True, False])
def test_cancelling_may_need_an_unclean_election(allowed: bool) -> None:
    """Only added replicas are in sync, so that going back loses data."""
    record = partition_record([32, 31], [32], leader=32, adding=[32], removing=[31])
    record.adding_replicas, record.removing_replicas = [32, 33], [31]
    record.replicas = [32, 33, 31]
    state = foo_on_31(record)
    state.config(TOPIC, "foo", unclean__leader__election__enable=str(allowed).lower())
    result = ask(state, None)
    if not allowed:
        assert (error_of(result), result.records) == (Errors.INVALID_REPLICA_ASSIGNMENT, [])
        return
    state.apply(result)
    partition = state.partition()
    assert (partition.replicas, partition.isr, partition.leader) == ((31,), (31,), 31)


def test_listing() -> None:
    state = foo_on_31()
    state.topic("bar", partition_record([31]), partition_record([31]), number=2)
    state.apply(ask(state, [32], topic="bar", index=1))
    ongoing = OngoingTopicReassignment(
        name="bar",
        partitions=[
            OngoingPartitionReassignment(
                partition_index=1, replicas=[32, 31], adding_replicas=[32], removing_replicas=[31]
            )
        ],
    )
    assert listed(state) == [ongoing]
    assert listed(state, ("bar", [0, 1, 7]), ("foo", [0]), ("none", [0])) == [ongoing]
    assert listed(state, ("bar", [0])) == []
    state.apply(ask(state, None, topic="bar", index=1))
    assert listed(state) == []


def test_nothing_is_reassigned_with_kafkas_defaults():
    """Whatever the request allows: as Kafka's controller, which makes no result for it."""
    request = AlterPartitionReassignmentsRequest(topics=[], allow_replication_factor_change=False)
    state = MetadataState()
    result = alter_partition_reassignments(state.controller, state.context(45, 1), request, state.moment())
    response = result.response
    assert isinstance(response, AlterPartitionReassignmentsResponse)
    assert (response.error_message, response.allow_replication_factor_change) == ("", True)
