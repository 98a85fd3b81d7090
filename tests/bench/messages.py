"""The messages that benchmarks encode and decode: those that a busy controller processes most."""

from __future__ import annotations

from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
)
from kraftctl_protocol.generated.alter_partition_request import PartitionData as PartitionToAlter
from kraftctl_protocol.generated.alter_partition_request import TopicData as TopicToAlter
from kraftctl_protocol.generated.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.message import Message

TOPIC_ID = bytes(range(16, 32))
DIRECTORY_IDS = [bytes([number]) * 16 for number in (161, 162, 163)]


def rpc_messages() -> list[tuple[Message, int]]:
    """(message, version): AlterPartition and BrokerHeartbeat, both ways, one partition, an ISR of three."""
    states = [BrokerState(broker_id=number, broker_epoch=4_000 + number) for number in (1, 2, 3)]
    wanted = PartitionToAlter(
        partition_index=7,
        leader_epoch=11,
        new_isr_with_epochs=states,
        leader_recovery_state=0,
        partition_epoch=19,
    )
    answer = PartitionData(
        partition_index=7,
        leader_id=1,
        leader_epoch=11,
        isr=[1, 2, 3],
        leader_recovery_state=0,
        partition_epoch=20,
    )
    return [
        (
            AlterPartitionRequest(
                broker_id=1,
                broker_epoch=4_001,
                topics=[TopicToAlter(topic_id=TOPIC_ID, partitions=[wanted])],
            ),
            3,
        ),
        (AlterPartitionResponse(topics=[TopicData(topic_id=TOPIC_ID, partitions=[answer])]), 3),
        (BrokerHeartbeatRequest(broker_id=1, broker_epoch=4_001, current_metadata_offset=123_456), 1),
        (BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False), 1),
    ]


def record_messages() -> list[tuple[Message, int]]:
    """(record, version) as written with metadata.version 4.3-IV0."""
    return [
        (partition_record(TOPIC_ID, 7), 2),
        (
            PartitionChangeRecord(
                partition_id=7, topic_id=TOPIC_ID, isr=[1, 2], leader=1, eligible_leader_replicas=[3]
            ),
            2,
        ),
    ]


def partition_record(topic_id: bytes, index: int) -> PartitionRecord:
    """A healthy partition with three replicas, led by one of brokers 1, 2 and 3 in turn."""
    first = index % 3
    replicas = [(first + position) % 3 + 1 for position in range(3)]
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=replicas,
        isr=list(replicas),
        leader=replicas[0],
        directories=[DIRECTORY_IDS[replica - 1] for replica in replicas],
    )
