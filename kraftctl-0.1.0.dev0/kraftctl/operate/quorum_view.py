"""The progress of the voters as their leader sees it: this node if it leads, else the leader is asked."""

from __future__ import annotations

from typing import Final

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

ASK_ANOTHER: Final = (
    "Next step: ask another controller: kraftctl quorum --bootstrap-controller HOST:PORT may-stop"
    " --controller-id ID. If none has a leader, nothing can be changed already: see /readyz for the cause"
)


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
    if raft.leader_address is None:
        return f"This controller knows no leader. {ASK_ANOTHER}"
    host, port = raft.leader_address
    leader = f"leader {raft.leader_id} at {host}:{port}"
    response = await driver.ask_leader(request)
    if not isinstance(response, DescribeQuorumResponse):
        return f"The {leader} does not answer DescribeQuorum. {ASK_ANOTHER}"
    return _progress_in(response, leader)


def _progress_in(response: DescribeQuorumResponse, leader: str) -> list[VoterProgress] | str:
    if response.error_code != Errors.NONE:
        return _refused(leader, response.error_code)
    (partition,) = response.topics[0].partitions
    if partition.error_code != Errors.NONE:
        return _refused(leader, partition.error_code)
    now_ms = max((each.last_fetch_timestamp for each in partition.current_voters), default=0)
    return [
        VoterProgress(
            each.replica_id,
            None if each.last_caught_up_timestamp < 0 else max(0, now_ms - each.last_caught_up_timestamp),
        )
        for each in partition.current_voters
    ]


def _refused(leader: str, error_code: int) -> str:
    return f"The {leader} answers {error_of(error_code).name} to DescribeQuorum. {ASK_ANOTHER}"
