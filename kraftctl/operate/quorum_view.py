"""The progress of the voters as their leader sees it: this node if it leads, else the leader is asked."""

from __future__ import annotations

from kraftctl.operate.restart import VoterProgress
from kraftctl.server.driver import Driver
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC


async def voters_progress(driver: Driver, now_ms: int) -> list[VoterProgress] | str:
    """Returns the voters, or why they are not known; to be called on the loop of the controller."""
    raft = driver.node.raft
    if raft.is_leader:
        found = [VoterProgress(raft.node_id, 0)] if raft.why_no_vote() is None else []
        for replica in raft.figures(now_ms).replicas:
            if replica.is_voter:
                caught_up_ms = replica.caught_up_ms
                found.append(
                    VoterProgress(replica.key.id, None if caught_up_ms < 0 else now_ms - caught_up_ms)
                )
        return sorted(found, key=lambda each: each.voter_id)
    partition = PartitionData(partition_index=METADATA_PARTITION)
    request = DescribeQuorumRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    response = await driver.ask_leader(request)
    if not isinstance(response, DescribeQuorumResponse):
        return (
            "The leader does not answer DescribeQuorum. Next step: see /readyz and the log of this controller"
        )
    return _progress_in(response)


def _progress_in(response: DescribeQuorumResponse) -> list[VoterProgress] | str:
    if response.error_code != Errors.NONE:
        return _refused(response.error_code)
    (partition,) = response.topics[0].partitions
    if partition.error_code != Errors.NONE:
        return _refused(partition.error_code)
    now_ms = max((each.last_fetch_timestamp for each in partition.current_voters), default=0)
    return [
        VoterProgress(
            each.replica_id,
            None if each.last_caught_up_timestamp < 0 else max(0, now_ms - each.last_caught_up_timestamp),
        )
        for each in partition.current_voters
    ]


def _refused(error_code: int) -> str:
    return f"The leader answers {error_of(error_code).name} to DescribeQuorum. Next step: see its log"
