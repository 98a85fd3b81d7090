"""KIP-595: a request or a response about anything but the metadata log is not read any further."""

from __future__ import annotations

import pytest

from kraftctl.raft.events import ResponseReceived
from kraftctl_protocol.generated import fetch_request, fetch_response, fetch_snapshot_response, vote_response
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse, LeaderIdAndEpoch
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.metadata_topic import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    is_fetch_of_metadata_log,
    is_fetched_from_metadata_log,
    is_for_metadata_log,
    is_snapshot_of_metadata_log,
)
from tests.support.simulator.cluster.raft_transcript import RaftTranscript

OTHER_TOPIC_ID = bytes(15) + b"\x02"

CASES = [
    pytest.param(METADATA_TOPIC, METADATA_TOPIC_ID, [0], True, id="metadata-log"),
    pytest.param(METADATA_TOPIC, METADATA_TOPIC_ID, [1], False, id="another-partition"),
    pytest.param(METADATA_TOPIC, METADATA_TOPIC_ID, [0, 0], False, id="two-partitions"),
    pytest.param(METADATA_TOPIC, METADATA_TOPIC_ID, [], False, id="no-partition"),
    pytest.param("topic", OTHER_TOPIC_ID, [0], False, id="another-topic"),
]


@pytest.mark.parametrize(("name", "topic_id", "indexes", "expected"), CASES)
def test_exactly_the_metadata_log_is_meant(
    name: str, topic_id: bytes, indexes: list[int], expected: bool
) -> None:
    votes = [vote_response.PartitionData(partition_index=index) for index in indexes]
    topic = vote_response.TopicData(topic_name=name, partitions=votes)
    assert is_for_metadata_log(VoteResponse(topics=[topic])) is expected
    assert not is_for_metadata_log(VoteResponse(topics=[topic, topic]))
    assert not is_for_metadata_log(VoteResponse())

    fetches = [fetch_request.FetchPartition(partition=index) for index in indexes]
    fetched = fetch_request.FetchTopic(topic=name, partitions=fetches)
    assert is_fetch_of_metadata_log(FetchRequest(topics=[fetched]), 12) is False, "by its name, in no version"
    fetched = fetch_request.FetchTopic(topic_id=topic_id, partitions=fetches)
    assert is_fetch_of_metadata_log(FetchRequest(topics=[fetched]), 13) is expected

    answers = [fetch_response.PartitionData(partition_index=index) for index in indexes]
    answered = fetch_response.FetchableTopicResponse(topic_id=topic_id, partitions=answers)
    assert is_fetched_from_metadata_log(FetchResponse(responses=[answered])) is expected

    slices = [fetch_snapshot_response.PartitionSnapshot(index=index) for index in indexes]
    snapshot = fetch_snapshot_response.TopicSnapshot(name=name, partitions=slices)
    assert is_snapshot_of_metadata_log(FetchSnapshotResponse(topics=[snapshot])) is expected


@pytest.mark.parametrize(("index", "epoch"), [pytest.param(0, 7, id="ours"), pytest.param(1, 1, id="other")])
def test_an_answer_about_another_partition_does_not_raise_the_epoch(index: int, epoch: int) -> None:
    """As KafkaRaftClient: RaftUtil.hasValidTopicPartition compares the index as well."""
    transcript = RaftTranscript()
    transcript.run("quorum-state epoch=1 leader=2")
    transcript.run("node id=1 voters=1,2,3 kraft-version=0")
    assert "send 1 to 2@" in transcript.run("start")
    partition = fetch_response.PartitionData(
        partition_index=index, current_leader=LeaderIdAndEpoch(leader_id=3, leader_epoch=7)
    )
    topic = fetch_response.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    transcript.node.step(ResponseReceived(1, FetchResponse(responses=[topic])), 1, 1)
    assert transcript.node.epoch == epoch
