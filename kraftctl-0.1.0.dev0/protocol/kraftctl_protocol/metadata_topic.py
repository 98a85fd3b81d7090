"""The only topic and partition of raft, and the check that a message names nothing else."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_response import EndQuorumEpochResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.uuids import ONE_UUID

METADATA_TOPIC: Final = "__cluster_metadata"
METADATA_TOPIC_ID: Final = ONE_UUID
METADATA_PARTITION: Final = 0

NAME_CONTROLLERS: Final = (
    "name controllers with --bootstrap-controllers: controller.quorum.bootstrap.servers or"
    " controller.quorum.voters of the properties file of a broker has them"
)
"""The next step when a broker was asked for this topic: it keeps a copy, which only controllers serve."""

TOPIC_ID_FROM_VERSION: Final = 13
"""Fetch names topics by id from this version on."""


def is_for_metadata_log(
    message: VoteRequest
    | VoteResponse
    | BeginQuorumEpochRequest
    | BeginQuorumEpochResponse
    | EndQuorumEpochRequest
    | EndQuorumEpochResponse
    | DescribeQuorumRequest,
) -> bool:
    """Returns whether a message names the metadata log, and no other topic or partition."""
    topics = message.topics
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return False
    topic = topics[0]
    return topic.topic_name == METADATA_TOPIC and topic.partitions[0].partition_index == METADATA_PARTITION


def is_fetch_of_metadata_log(request: FetchRequest, version: int) -> bool:
    """Returns whether it names the metadata log, and by its id: as Kafka, by its name in no version."""
    if version < TOPIC_ID_FROM_VERSION or len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return False
    topic = request.topics[0]
    return topic.topic_id == METADATA_TOPIC_ID and topic.partitions[0].partition == METADATA_PARTITION


def is_of_one_partition(response: FetchResponse) -> bool:
    return len(response.responses) == 1 and len(response.responses[0].partitions) == 1


def is_fetched_from_metadata_log(response: FetchResponse) -> bool:
    if not is_of_one_partition(response):
        return False
    topic = response.responses[0]
    return topic.topic_id == METADATA_TOPIC_ID and topic.partitions[0].partition_index == METADATA_PARTITION


def is_snapshot_of_metadata_log(response: FetchSnapshotResponse) -> bool:
    if len(response.topics) != 1 or len(response.topics[0].partitions) != 1:
        return False
    topic = response.topics[0]
    return topic.name == METADATA_TOPIC and topic.partitions[0].index == METADATA_PARTITION
