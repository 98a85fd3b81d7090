"""Epoch and high watermark of the quorum, which observers need in their requests."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.wire.controller_client import ControllerClient

VERSION = 2


@dataclass(frozen=True)
class QuorumState:
    """`high_watermark` is exclusive."""

    epoch: int
    high_watermark: int


def quorum_state(connection: ControllerClient) -> QuorumState:
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])
    answer = connection.call(DescribeQuorumRequest(topics=[topic]), VERSION, DescribeQuorumResponse)
    partition = answer.topics[0].partitions[0]
    assert answer.error_code == 0 == partition.error_code, answer
    return QuorumState(partition.leader_epoch, partition.high_watermark)
