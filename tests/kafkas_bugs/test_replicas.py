"""Bugs of Kafka's controller that concern replicas and ISRs do not exist here; each test names the issue."""

from __future__ import annotations

import pytest

from kraftctl.metadata.partition_registration import PartitionRegistration
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
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.uuids import Uuid
from tests.support.active_controller import ActiveController

LEADER, FOLLOWER = 1, 2


def create(active: ActiveController, replicas: list[int]) -> Uuid:
    """The id of the topic `t`, whose one partition has these replicas."""
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=replicas)
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=[assignment])
    response = active.request(CreateTopicsRequest(topics=[topic]))
    assert isinstance(response, CreateTopicsResponse)
    assert response.topics[0].error_code == 0, response
    return response.topics[0].topic_id


def partition_of(active: ActiveController, topic_id: Uuid, index: int = 0) -> PartitionRegistration:
    partition = active.controller.image.topics.partition(topic_id, index)
    assert partition is not None
    return partition


def change_isr(active: ActiveController, topic_id: Uuid, isr: dict[int, int]) -> Errors:
    """The response to the partition's leader that proposes `isr`: broker id -> the epoch of its Fetch."""
    partition = partition_of(active, topic_id)
    leader = active.controller.image.cluster.brokers[int(partition.leader)]
    data = PartitionData(
        partition_index=0,
        leader_epoch=int(partition.leader_epoch),
        new_isr_with_epochs=[
            BrokerState(broker_id=member, broker_epoch=epoch) for member, epoch in isr.items()
        ],
        partition_epoch=int(partition.partition_epoch),
    )
    request = AlterPartitionRequest(
        broker_id=leader.id,
        broker_epoch=leader.epoch,
        topics=[TopicData(topic_id=topic_id, partitions=[data])],
    )
    response = active.request(request)
    assert isinstance(response, AlterPartitionResponse)
    assert response.error_code == 0
    return Errors(response.topics[0].partitions[0].error_code)


def present_epochs(active: ActiveController, *broker_ids: int) -> dict[int, int]:
    return {broker_id: active.controller.image.cluster.brokers[broker_id].epoch for broker_id in broker_ids}


@pytest.mark.prevents("KAFKA-14617", "KAFKA-14139")
def test_a_replica_that_came_back_with_an_empty_disk_does_not_join_by_former_fetches() -> None:
    """KAFKA-14617, KAFKA-14139: the leader learns later that the follower came back without its data."""
    active = ActiveController()
    active.start_brokers(LEADER, FOLLOWER)
    topic_id = create(active, [LEADER, FOLLOWER])
    before = present_epochs(active, LEADER, FOLLOWER)
    assert active.heartbeat(FOLLOWER, shut_down=True).should_shut_down
    assert partition_of(active, topic_id).isr == (LEADER,)
    active.register(FOLLOWER, number=2)
    assert not active.heartbeat(FOLLOWER).is_fenced
    end_offset = active.end_offset
    assert change_isr(active, topic_id, before) == Errors.INELIGIBLE_REPLICA
    assert active.end_offset == end_offset
    active.heartbeat(LEADER, fence=True)
    assert partition_of(active, topic_id).leader == -1
    assert not active.heartbeat(LEADER).is_fenced
    assert change_isr(active, topic_id, present_epochs(active, LEADER, FOLLOWER)) == Errors.NONE
    assert partition_of(active, topic_id).isr == (LEADER, FOLLOWER)


def reassign(active: ActiveController, target: list[int]) -> None:
    partition = ReassignablePartition(partition_index=0, replicas=target)
    topic = ReassignableTopic(name="t", partitions=[partition])
    response = active.request(AlterPartitionReassignmentsRequest(topics=[topic]))
    assert isinstance(response, AlterPartitionReassignmentsResponse)
    assert response.responses[0].partitions[0].error_code == 0, response


@pytest.mark.prevents("KAFKA-15665", "KAFKA-19975")
@pytest.mark.parametrize(
    ("replicas", "target", "out_of_sync", "steps"),
    [
        pytest.param([1, 2, 3], [1, 2, 3, 4], 3, [[1, 2, 4]], id="grows"),
        pytest.param([1, 2, 3], [2, 3, 4], 3, [[1, 2, 4]], id="replaces-one"),
        pytest.param([1, 2, 3], [3, 4, 5], 3, [[1, 2, 4], [1, 2, 4, 5]], id="replaces-two"),
        pytest.param(
            [1, 2, 3, 4, 5], [3, 4, 5, 6], 5, [[1, 2, 3, 4, 6], [1, 2, 3, 4, 5, 6]], id="shrinks-and-waits"
        ),
        pytest.param([1, 2, 3], [2, 3], 3, [[1, 2, 3]], id="removes-one-and-waits"),
    ],
)
def test_a_reassignment_waits_for_what_it_adds_and_for_no_other_unless_it_shrinks(
    replicas: list[int], target: list[int], out_of_sync: int, steps: list[list[int]]
) -> None:
    """KAFKA-15665: it does not complete before the ISR has what is added, or all that stay if it shrinks.

    KAFKA-19975: nor later: a replica that is neither added nor removed may be out of sync. The ISR grows in
    `steps`, and the last one completes the reassignment.
    """
    active = ActiveController()
    brokers = sorted({*replicas, *target})
    active.start_brokers(*brokers)
    topic_id = create(active, replicas)
    in_sync = [replica for replica in replicas if replica != out_of_sync]
    assert change_isr(active, topic_id, present_epochs(active, *in_sync)) == Errors.NONE
    reassign(active, target)
    for isr in steps:
        assert partition_of(active, topic_id).reassigning
        removes_leader = isr is steps[-1] and replicas[0] not in target
        expected = Errors.NEW_LEADER_ELECTED if removes_leader else Errors.NONE
        assert change_isr(active, topic_id, present_epochs(active, *isr)) == expected
    partition = partition_of(active, topic_id)
    assert not partition.reassigning
    assert list(partition.replicas) == target
    assert sorted(partition.isr) == [member for member in steps[-1] if member in target]
    assert partition.leader in partition.isr
