"""A stand-in for the leader of one partition, which takes a follower out of the ISR and back in."""

from __future__ import annotations

from kraftctl.dev.polling import await_result
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
from tests.support.wire.controller_client import ControllerClient, StandInBroker

BROKER_IDS = (1, 2, 3)


class PartitionLeader:
    """Of a new partition with three replicas; the first of `brokers`, which are unfenced, leads it."""

    def __init__(self, client: ControllerClient, cluster_id: str) -> None:
        self.brokers = [StandInBroker(client, broker_id, cluster_id) for broker_id in BROKER_IDS]
        self._client = client
        for broker in self.brokers:
            await_result(broker.register, f"broker {broker.broker_id} is registered")
            await_result(broker.is_unfenced, f"broker {broker.broker_id} is unfenced")
        topic = CreatableTopic(
            name="led",
            num_partitions=-1,
            replication_factor=-1,
            assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=list(BROKER_IDS))],
        )
        response = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
        assert response.topics[0].error_code == 0, response
        self._topic_id = response.topics[0].topic_id
        self._leader_epoch = 0
        self._partition_epoch = 0
        self._isr_size = len(BROKER_IDS)

    def change_isr(self) -> None:
        """One AlterPartition; returns once it is committed."""
        self._isr_size = len(BROKER_IDS) - 1 if self._isr_size == len(BROKER_IDS) else len(BROKER_IDS)
        members = self.brokers[: self._isr_size]
        wanted = PartitionData(
            partition_index=0,
            leader_epoch=self._leader_epoch,
            new_isr_with_epochs=[
                BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch)
                for member in members
            ],
            partition_epoch=self._partition_epoch,
        )
        request = AlterPartitionRequest(
            broker_id=self.brokers[0].broker_id,
            broker_epoch=self.brokers[0].broker_epoch,
            topics=[TopicData(topic_id=self._topic_id, partitions=[wanted])],
        )
        response = self._client.call(request, 3, AlterPartitionResponse)
        partition = response.topics[0].partitions[0]
        assert response.error_code == 0 == partition.error_code, response
        self._leader_epoch, self._partition_epoch = partition.leader_epoch, partition.partition_epoch
