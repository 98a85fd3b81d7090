"""The epoch of the quorum, which observers name in each request."""

from __future__ import annotations

from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.wire.controller_client import ControllerClient


def quorum_epoch(connection: ControllerClient) -> int:
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])
    answer = connection.call(DescribeQuorumRequest(topics=[topic]), 2, DescribeQuorumResponse)
    partition = answer.topics[0].partitions[0]
    assert answer.error_code == 0 == partition.error_code, answer
    return partition.leader_epoch
