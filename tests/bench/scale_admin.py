"""Requests of admins and of partition leaders that concern very many partitions in one request."""

from __future__ import annotations

from typing import Final

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
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from tests.bench.scale_cluster import Cluster, Measured
from tests.bench.scale_requests import (
    PARTITIONS_PER_REQUEST,
    TIMEOUT_MS,
    create_led_by,
    refuse_errors,
    topic_name,
)
from tests.bench.scale_rows import until_settled

PREFERRED: Final = 0
LED_PARTITIONS: Final = PARTITIONS_PER_REQUEST
REASSIGNED: Final = "reassigned"
STORM_PARTITIONS: Final = 1_000
"""Of one request: small ones, so that this process is not what heartbeats wait for."""


class IsrChanges:
    """AlterPartition of all partitions of a topic, whose leader takes the last replica out of the ISRs and
    back in, with one request each."""

    def __init__(self, topic_id: bytes, partitions: int, replicas: list[int]) -> None:
        self.partitions = partitions
        self._topic_id = topic_id
        self._replicas = replicas
        self._partition_epoch = 0
        self._removed = False

    async def change(self, cluster: Cluster) -> None:
        await self.send(cluster, self.next_request(cluster))

    def next_request(self, cluster: Cluster) -> AlterPartitionRequest:
        self._removed = not self._removed
        members = self._replicas[:-1] if self._removed else self._replicas
        states = [
            BrokerState(broker_id=number, broker_epoch=cluster.fleet.brokers[number].epoch)
            for number in members
        ]
        partitions = [
            PartitionData(
                partition_index=index,
                leader_epoch=0,
                new_isr_with_epochs=states,
                partition_epoch=self._partition_epoch,
            )
            for index in range(self.partitions)
        ]
        leader = cluster.fleet.brokers[self._replicas[0]]
        self._partition_epoch += 1
        return AlterPartitionRequest(
            broker_id=leader.broker_id,
            broker_epoch=leader.epoch,
            topics=[TopicData(topic_id=self._topic_id, partitions=partitions)],
        )

    async def send(self, cluster: Cluster, request: AlterPartitionRequest) -> None:
        """Raises ValueError when a partition is refused."""
        answer = await cluster.ask(request, 3, AlterPartitionResponse)
        refuse_errors([answer.error_code], "AlterPartition")
        refuse_errors([each.error_code for each in answer.topics[0].partitions], "AlterPartition")


async def isr_changes(cluster: Cluster, name: str, partitions: int, replicas: list[int]) -> IsrChanges:
    """Of a new topic."""
    return IsrChanges(await create_led_by(cluster, name, partitions, replicas), partitions, replicas)


async def alter_partition(cluster: Cluster, changes: IsrChanges) -> Measured:
    request = changes.next_request(cluster)
    async with cluster.measuring(f"AlterPartition of {changes.partitions:,} partitions") as window:
        await changes.send(cluster, request)
        await until_settled(cluster, window)
    return window.measured


async def reassign(cluster: Cluster, replicas: list[int], other: int) -> Measured:
    """One replica of each partition of a topic moves to another broker."""
    await create_led_by(cluster, REASSIGNED, LED_PARTITIONS, replicas)
    wanted = [*replicas[:-1], other]
    partitions = [
        ReassignablePartition(partition_index=index, replicas=wanted) for index in range(LED_PARTITIONS)
    ]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS, topics=[ReassignableTopic(name=REASSIGNED, partitions=partitions)]
    )
    what = f"AlterPartitionReassignments of {LED_PARTITIONS:,} partitions"
    async with cluster.measuring(what) as window:
        answer = await cluster.ask(request, 1, AlterPartitionReassignmentsResponse)
        refuse_errors([answer.error_code], what)
        refuse_errors([each.error_code for each in answer.responses[0].partitions], what)
        await until_settled(cluster, window)
    return window.measured


async def elect_all(cluster: Cluster) -> Measured:
    """The preferred leaders of all partitions; refused when a response may not have so many results."""
    request = ElectLeadersRequest(election_type=PREFERRED, topic_partitions=None, timeout_ms=TIMEOUT_MS)
    async with cluster.measuring("ElectLeaders of all partitions") as window:
        answer = await cluster.ask(request, 2, ElectLeadersResponse)
        results = sum(len(each.partition_result) for each in answer.replica_election_results)
        window.measured.note = f"{Errors(answer.error_code).name}, {results:,} results"
        await until_settled(cluster, window)
    return window.measured


async def delete(cluster: Cluster, topics: int, partitions: int) -> Measured:
    """The first `topics` topics, which have so many partitions together, in one request."""
    names = [DeleteTopicState(name=topic_name(number)) for number in range(topics)]
    request = DeleteTopicsRequest(topics=names, timeout_ms=TIMEOUT_MS)
    what = f"DeleteTopics of {partitions:,} partitions"
    async with cluster.measuring(what) as window:
        answer = await cluster.ask(request, 6, DeleteTopicsResponse)
        refuse_errors([each.error_code for each in answer.responses], what)
        await until_settled(cluster, window)
    return window.measured
