"""AssignReplicasToDirs: directories of replicas, also ones that have failed (KIP-858)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.assign_replicas_to_dirs import assign_replicas_to_dirs
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.metadata import features
from kraftctl.metadata.directory_id import UNASSIGNED
from kraftctl.metadata.partition_registration import NO_LEADER_CHANGE
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_response import AssignReplicasToDirsResponse
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, directory, partition_record, uuid

HERE, THERE = directory(1, 0), directory(1, 1)


def unassigned_replicas(metadata_version: int = features.LATEST_PRODUCTION) -> MetadataState:
    state = MetadataState(metadata_version)
    state.broker(1, directories=2)
    state.brokers(2)
    state.topic(
        "foo",
        partition_record([1, 2], directories=[UNASSIGNED, directory(2)]),
        partition_record([2, 1], directories=[directory(2), UNASSIGNED]),
        partition_record([2], directories=[directory(2)]),
    )
    return state


def ask(
    state: MetadataState,
    *assignments: tuple[bytes, int],
    topic_id: bytes = uuid(1),
    epoch: int = BROKER_EPOCH + 1,
    broker_id: int = 1,
) -> ControllerResult:
    directories = [
        DirectoryData(
            id=where, topics=[TopicData(topic_id=topic_id, partitions=[PartitionData(partition_index=index)])]
        )
        for where, index in assignments
    ]
    request = AssignReplicasToDirsRequest(broker_id=broker_id, broker_epoch=epoch, directories=directories)
    request = AssignReplicasToDirsRequest.decode(request.encode(0), 0)
    result = assign_replicas_to_dirs(state.controller, state.context(73, 0), request, state.moment())
    assert isinstance(result.response, AssignReplicasToDirsResponse)
    result.response.encode(0)
    return result


def top_level(result: ControllerResult) -> Errors:
    assert isinstance(result.response, AssignReplicasToDirsResponse)
    return Errors(result.response.error_code)


def codes(result: ControllerResult) -> list[Errors]:
    assert isinstance(result.response, AssignReplicasToDirsResponse)
    return [
        Errors(partition.error_code)
        for where in result.response.directories
        for topic in where.topics
        for partition in topic.partitions
    ]


def test_assignments_become_directories() -> None:
    state = unassigned_replicas()
    result = state.apply(ask(state, (HERE, 0), (THERE, 1)))
    assert codes(result) == [Errors.NONE, Errors.NONE]
    assert state.partition(0).directories == (HERE, directory(2))
    assert state.partition(1).directories == (directory(2), THERE)
    assert state.partition(0).leader_epoch == 5


def test_repeating_it_writes_nothing() -> None:
    """Brokers do send assignments twice."""
    state = unassigned_replicas()
    state.apply(ask(state, (HERE, 0)))
    again = ask(state, (HERE, 0))
    assert (codes(again), again.records) == ([Errors.NONE], [])


@pytest.mark.prevents("KAFKA-17190")
@pytest.mark.parametrize(
    ("index", "topic_id", "error"),
    [
        pytest.param(0, uuid(9), Errors.UNKNOWN_TOPIC_ID, id="topic-unknown"),
        pytest.param(7, uuid(1), Errors.UNKNOWN_TOPIC_OR_PARTITION, id="partition-unknown"),
        pytest.param(2, uuid(1), Errors.NOT_LEADER_OR_FOLLOWER, id="not-a-replica"),
    ],
)
def test_refusals_are_final_for_the_broker(index: int, topic_id: bytes, error: Errors) -> None:
    """KAFKA-17190: codes the broker does not retry for ever."""
    result = ask(unassigned_replicas(), (HERE, index), topic_id=topic_id)
    assert (codes(result), result.records) == ([error], [])


@pytest.mark.parametrize(("broker_id", "epoch"), [(1, BROKER_EPOCH), (9, BROKER_EPOCH + 9)])
def test_a_stale_broker_epoch(broker_id: int, epoch: int) -> None:
    result = ask(unassigned_replicas(), (HERE, 0), broker_id=broker_id, epoch=epoch)
    assert (top_level(result), result.records) == (Errors.STALE_BROKER_EPOCH, [])


def test_before_directory_assignment() -> None:
    state = MetadataState(features.IBP_3_7_IV1)
    state.brokers(1)
    assert top_level(ask(state, (HERE, 0))) == Errors.UNSUPPORTED_VERSION


def test_a_replica_in_an_offline_directory_leaves_the_isr() -> None:
    """The broker noticed a failed disk before its replica was assigned."""
    state = unassigned_replicas()
    gone = directory(1, 9)
    result = ask(state, (gone, 0))
    assert codes(result) == [Errors.NONE]
    last = result.records[-1].record
    assert isinstance(last, PartitionChangeRecord)
    assert (last.isr, last.leader) == ([2], 2)
    state.apply(result)
    assert state.partition(0).isr == (2,)
    assert state.partition(0).directory(1) == gone


@pytest.mark.parametrize("isr", [[2], [1, 2]])
def test_what_ends_with_an_assignment_does_not_end_twice(isr: list[int]) -> None:
    """A reassignment whose replicas are all in the ISR ends with the next change of the partition.

    Kafka ends it in both records of a replica in an offline directory: out of the ISR, the second raises
    epochs alone.
    """
    state = unassigned_replicas()
    state.topic(
        "bar",
        partition_record([1, 2], isr=isr, leader=2, adding=[2], directories=[UNASSIGNED, directory(2)]),
        number=2,
    )
    result = ask(state, (directory(1, 9), 0), topic_id=uuid(2))
    assert codes(result) == [Errors.NONE]
    changes = [each.record for each in result.records if isinstance(each.record, PartitionChangeRecord)]
    assert len(changes) == len(result.records)
    assert [each.adding_replicas for each in changes] == [[], None][: len(isr)]
    assert [each.isr for each in changes] == [None, [2]][: len(isr)]


def test_a_leadership_that_ends_with_an_assignment_does_not_end_twice() -> None:
    """A leader that was unfenced in its controlled shutdown loses the partition with any change of it.

    In Kafka, both records of a replica in an offline directory elect the next one, and raise its epoch.
    """
    state = MetadataState()
    state.broker(1, directories=2, in_controlled_shutdown=True)
    state.broker(2)
    state.topic("foo", partition_record([1, 2], directories=[HERE, directory(2)]))
    result = ask(state, (directory(1, 9), 0))
    assert codes(result) == [Errors.NONE]
    changes = [each.record for each in result.records if isinstance(each.record, PartitionChangeRecord)]
    assert [(each.leader, each.isr) for each in changes] == [(2, None), (NO_LEADER_CHANGE, [2])]


def test_a_leader_in_another_directory_stays() -> None:
    """Numbers of directories are those of the image: broker 2 has named the one that it leads in second."""
    state = MetadataState()
    state.broker(1, directories=2)
    state.broker(2, directories=2)
    failed, online = directory(2, 9), directory(2, 1)
    state.topic("old", partition_record([2], directories=[failed]), number=2)
    state.topic("foo", partition_record([1, 2], isr=[2], leader=2, directories=[UNASSIGNED, online]))
    result = ask(state, (directory(1, 9), 0))
    assert codes(result) == [Errors.NONE]
    (change,) = [each.record for each in result.records]
    assert isinstance(change, PartitionChangeRecord)
    assert (change.leader, change.isr) == (NO_LEADER_CHANGE, None)
    state.apply(result)
    assert (state.partition(0).leader, state.partition(0).directory(2)) == (2, online)
