"""KIP-497, KIP-841, KIP-903: what an AlterPartition asks for, compared with the image that accepts it."""

from __future__ import annotations

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest, PartitionData
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.checks.invariants import broken

TOPIC_IDS_SINCE = 2
UNKNOWN_BROKER_EPOCH = -1

PartitionKey = tuple[Uuid | str, int]


def reasons_to_refuse(
    image: MetadataImage, request: AlterPartitionRequest, version: int
) -> dict[PartitionKey, str]:
    """By partition. `image` has the records of the request, if it was accepted."""
    reasons: dict[PartitionKey, str] = {}
    for topic_data in request.topics:
        name: Uuid | str = topic_data.topic_id if version >= TOPIC_IDS_SINCE else topic_data.topic_name
        topic = (
            image.topics.topic(topic_data.topic_id)
            if version >= TOPIC_IDS_SINCE
            else image.topics.topic_by_name(topic_data.topic_name)
        )
        for data in topic_data.partitions:
            partition = None if topic is None else topic.partitions.get(data.partition_index)
            reason = "unknown" if partition is None else _reason(image, partition, data)
            if reason:
                reasons[name, data.partition_index] = reason
    return reasons


def _reason(image: MetadataImage, partition: PartitionRegistration, data: PartitionData) -> str:
    """A change makes each epoch one larger at most."""
    if not 0 <= partition.partition_epoch - data.partition_epoch <= 1:
        return f"the partition epoch is {partition.partition_epoch}, not {data.partition_epoch}"
    if not 0 <= partition.leader_epoch - data.leader_epoch <= 1:
        return f"the leader epoch is {partition.leader_epoch}, not {data.leader_epoch}"
    members = [(state.broker_id, state.broker_epoch) for state in data.new_isr_with_epochs or []]
    members += [(broker_id, UNKNOWN_BROKER_EPOCH) for broker_id in data.new_isr or []]
    for broker_id, epoch in members:
        registration = image.cluster.brokers.get(broker_id)
        if registration is None or not registration.active:
            return f"{registration or broker_id} is not active"
        if epoch not in (UNKNOWN_BROKER_EPOCH, registration.epoch):
            return f"broker {broker_id} has epoch {registration.epoch}, not {epoch}"
    return ""


def check(who: str, reasons: dict[PartitionKey, str], response: AlterPartitionResponse) -> None:
    """None of these partitions may be answered without an error."""
    if response.error_code != 0:
        return
    for topic in response.topics:
        for partition in topic.partitions:
            if partition.error_code != 0:
                continue
            for name in (topic.topic_id, topic.topic_name):
                reason = reasons.get((name, partition.partition_index))
                if reason is not None:
                    broken("OldIsrChangeIsRefused", f"{who} accepts one of {name!r}: {reason}")
