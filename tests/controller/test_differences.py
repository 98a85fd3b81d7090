"""What kraftctl does otherwise than the controller of Kafka, as docs/differences.md says."""

from __future__ import annotations

from kraftctl.metadata import features
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_partition_request as isr
from kraftctl_protocol.generated import elect_leaders_request as elections
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from tests.support.active_controller import ActiveController

SESSION_MS = 9_000


def with_a_topic(partitions: int = 1) -> ActiveController:
    active = ActiveController()
    active.start_brokers(1, 2, 3)
    active.create_topic("t", partitions, 3)
    return active


def changes(active: ActiveController, start: int) -> int:
    return sum(
        isinstance(entry.record, PartitionChangeRecord) for offset, entry in active.log if offset >= start
    )


def test_an_isr_is_changed_once_by_a_request_that_names_its_partition_twice() -> None:
    active = with_a_topic()
    image = active.controller.image
    topic = image.topics.topic_by_name("t")
    assert topic is not None
    partition = topic.partitions[0]
    epochs = {broker.id: broker.epoch for broker in image.cluster.brokers.values()}
    asked = isr.PartitionData(
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=[
            isr.BrokerState(broker_id=partition.leader, broker_epoch=epochs[partition.leader])
        ],
    )
    topics = [isr.TopicData(topic_id=topic.topic_id, partitions=[asked, asked])]
    start = active.end_offset
    response = active.request(
        isr.AlterPartitionRequest(
            broker_id=partition.leader, broker_epoch=epochs[partition.leader], topics=topics
        ),
        3,
    )
    codes = [each.error_code for each in response.topics[0].partitions]
    assert (codes, changes(active, start)) == ([Errors.NONE, Errors.INVALID_REQUEST], 1)


def test_a_leader_is_elected_once_by_a_request_that_names_its_partition_twice() -> None:
    active = with_a_topic()
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    leader = topic.partitions[0].leader
    active.heartbeat(leader, fence=True)
    active.heartbeat(leader)
    active.request(_isr_of_all(active), 3)
    named = elections.TopicPartitions(topic="t", partitions=[0, 0])
    start = active.end_offset
    response = active.request(elections.ElectLeadersRequest(topic_partitions=[named]))
    codes = [each.error_code for each in response.replica_election_results[0].partition_result]
    assert (codes, changes(active, start)) == ([Errors.NONE, Errors.ELECTION_NOT_NEEDED], 1)


def _isr_of_all(active: ActiveController) -> isr.AlterPartitionRequest:
    image = active.controller.image
    topic = image.topics.topic_by_name("t")
    assert topic is not None
    partition = topic.partitions[0]
    epochs = {broker.id: broker.epoch for broker in image.cluster.brokers.values()}
    asked = isr.PartitionData(
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=[isr.BrokerState(broker_id=each, broker_epoch=epochs[each]) for each in epochs],
    )
    return isr.AlterPartitionRequest(
        broker_id=partition.leader,
        broker_epoch=epochs[partition.leader],
        topics=[isr.TopicData(topic_id=topic.topic_id, partitions=[asked])],
    )


def test_the_end_of_the_session_of_a_fenced_broker_is_not_written() -> None:
    active = ActiveController()
    active.start_brokers(1)
    active.heartbeat(1, fence=True)
    assert active.controller.image.cluster.brokers[1].fenced
    start = active.end_offset
    active.pass_time(2 * SESSION_MS)
    assert [entry for offset, entry in active.log if offset >= start and entry.record.API_KEY == 17] == []


def test_a_directory_of_a_deleted_topic_without_isr_may_fail() -> None:
    active = ActiveController(features.IBP_4_3_IV0)
    active.start_brokers(1, directories=2)
    active.create_topic("t")
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    (used,) = topic.partitions[0].directories
    active.heartbeat(1, fence=True)
    gone = active.controller.image.topics.topic_by_name("t")
    assert gone is not None
    assert gone.partitions[0].isr == ()
    active.request(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=10_000))
    assert active.heartbeat(1, offline=[used]).error_code == Errors.NONE
    assert used not in active.controller.image.cluster.brokers[1].directories


def test_a_broker_leaves_after_a_topic_was_deleted_whose_elrs_were_cleared() -> None:
    active = ActiveController(features.IBP_4_3_IV0)
    active.start_brokers(1, 2)
    active.create_topic("t", 1, 2)
    active.request(_min_isr("2"))
    active.heartbeat(1, fence=True)
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    assert topic.partitions[0].elr == (1,)
    active.request(_min_isr("1"))
    cleared = active.controller.image.topics.topic_by_name("t")
    assert cleared is not None
    assert cleared.partitions[0].elr == ()
    active.request(DeleteTopicsRequest(topics=[DeleteTopicState(name="t")], timeout_ms=10_000))
    active.pass_time(2 * SESSION_MS)
    assert active.register(1, number=9) > 0
    assert active.request(UnregisterBrokerRequest(broker_id=1)).error_code == Errors.NONE
    assert 1 not in active.controller.image.cluster.brokers


def test_a_partition_of_which_an_elr_was_cleared_changes_once() -> None:
    active = ActiveController(features.IBP_4_3_IV0)
    active.start_brokers(1, 2)
    active.create_topic("t", 1, 2)
    active.request(_min_isr("3"))
    for value in ("2", "3"):
        active.heartbeat(1)
        active.request(_isr_of_all(active), 3)
        active.heartbeat(1, fence=True)
        active.request(_min_isr(value))
    active.heartbeat(1)
    active.request(_isr_of_all(active), 3)
    active.heartbeat(1, fence=True)
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    assert topic.partitions[0].elr == (1,)
    active.pass_time(2 * SESSION_MS)
    start = active.end_offset
    active.register(1, number=9)
    assert changes(active, start) == 1


def _min_isr(value: str) -> IncrementalAlterConfigsRequest:
    change = AlterableConfig(name="min.insync.replicas", value=value)
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[change])
    return IncrementalAlterConfigsRequest(resources=[resource])


def test_no_replica_is_placed_on_a_broker_that_is_unfenced_in_its_controlled_shutdown() -> None:
    active = with_a_topic(3)
    active.heartbeat(1, shut_down=True)
    active.heartbeat(1, fence=True)
    active.heartbeat(1, shut_down=True, fence=True)
    active.heartbeat(1)
    registration = active.controller.image.cluster.brokers[1]
    assert (registration.fenced, registration.in_controlled_shutdown) == (False, True)
    active.create_topic("u", 50, 1)
    topic = active.controller.image.topics.topic_by_name("u")
    assert topic is not None
    assert {broker for each in topic.partitions.values() for broker in each.replicas} == {2, 3}


def test_new_partitions_have_as_many_replicas_as_partition_0() -> None:
    active = with_a_topic(3)
    moved = [ReassignablePartition(partition_index=0, replicas=[1, 2])]
    active.request(AlterPartitionReassignmentsRequest(topics=[ReassignableTopic(name="t", partitions=moved)]))
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    assert [len(topic.partitions[index].replicas) for index in range(3)] == [2, 3, 3]
    added = CreatePartitionsTopic(
        name="t", count=4, assignments=[CreatePartitionsAssignment(broker_ids=[2, 3])]
    )
    response = active.request(CreatePartitionsRequest(topics=[added], timeout_ms=10_000))
    assert response.results[0].error_code == Errors.NONE
