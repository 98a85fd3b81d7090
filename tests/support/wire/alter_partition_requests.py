"""A partition leader's AlterPartition requests, in every version, through their own bytes."""

from __future__ import annotations

from kraftctl.controller.replication_control.alter_partition import alter_partition
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.alter_partition_response import PartitionData as PartitionResult
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, uuid

VERSIONS = (0, 1, 2, 3)


def request_for(
    version: int,
    isr: list[int],
    *,
    sender: int = 1,
    sender_epoch: int | None = None,
    leader_epoch: int = 5,
    partition_epoch: int = 10,
    recovery_state: int = 0,
    epochs: dict[int, int] | None = None,
    topic: str = "foo",
    topic_id: bytes = uuid(1),
    index: int = 0,
) -> AlterPartitionRequest:
    """A leader's request as that version spells it, decoded from its own bytes."""
    data = PartitionData(partition_index=index, leader_epoch=leader_epoch, partition_epoch=partition_epoch)
    if version >= 1:
        data.leader_recovery_state = recovery_state
    if version >= 3:
        known = epochs or {}
        data.new_isr_with_epochs = [
            BrokerState(broker_id=member, broker_epoch=known.get(member, BROKER_EPOCH + member))
            for member in isr
        ]
    else:
        data.new_isr = isr
    topic_data = TopicData(partitions=[data])
    if version >= 2:
        topic_data.topic_id = topic_id
    else:
        topic_data.topic_name = topic
    request = AlterPartitionRequest(
        broker_id=sender,
        broker_epoch=BROKER_EPOCH + sender if sender_epoch is None else sender_epoch,
        topics=[topic_data],
    )
    return AlterPartitionRequest.decode(request.encode(version), version)


def ask(state: MetadataState, version: int, request: AlterPartitionRequest) -> ControllerResult:
    """The handler's result; its response must be writable in that version."""
    result = alter_partition(state.controller, state.context(56, version), request, state.moment())
    assert result.response is not None
    assert isinstance(result.response, AlterPartitionResponse)
    result.response.encode(version)
    assert not result.is_atomic
    return result


def only_partition(result: ControllerResult) -> PartitionResult:
    assert isinstance(result.response, AlterPartitionResponse)
    return result.response.topics[0].partitions[0]


def error_of(result: ControllerResult) -> Errors:
    """The error of the one partition asked for."""
    return Errors(only_partition(result).error_code)
