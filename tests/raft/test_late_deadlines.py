"""A replica that was suspended for longer than its timeouts first reads what waits."""

from __future__ import annotations

import pytest

from kraftctl.raft.raft_config import CHECK_QUORUM_TIMEOUT_FACTOR, RaftConfig
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum

FETCH_TIMEOUT_MS = RaftConfig().fetch_timeout_ms
CHECK_QUORUM_MS = int(FETCH_TIMEOUT_MS * CHECK_QUORUM_TIMEOUT_FACTOR)


def fetch_of(voter: ControllerProcess, epoch: int) -> FetchRequest:
    """It has all that the leader has."""
    partition = FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=voter.raft.end_offset,
        last_fetched_epoch=epoch,
        replica_directory_id=voter.key.directory_id,
    )
    return FetchRequest(
        replica_state=ReplicaState(replica_id=voter.node_id),
        max_wait_ms=500,
        topics=[FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])],
    )


def describe_quorum() -> DescribeQuorumRequest:
    return DescribeQuorumRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData()])])


def suspended_leader(quorum: Quorum) -> tuple[ControllerProcess, list[FetchRequest]]:
    """No message reaches it any more. Returns what its followers might have sent, too."""
    leader = quorum.led()
    quorum.run_for(1_000)
    quorum.isolate(leader.node_id)
    leader.freeze()
    return leader, [fetch_of(voter, leader.raft.epoch) for voter in quorum.followers()]


def send(quorum: Quorum, process: ControllerProcess, request: Message) -> None:
    """It waits in the socket while the process is suspended."""
    assert process.lifetime is not None

    def read() -> None:
        quorum.ask(process, request)

    process.lifetime.run(read)


@pytest.mark.parametrize(
    "came_after_ms",
    [
        pytest.param(CHECK_QUORUM_MS // 2, id="before-the-deadline"),
        pytest.param(CHECK_QUORUM_MS + 400, id="before-it-is-reported"),
    ],
)
def test_a_leader_reads_the_fetches_that_wait_before_it_resigns(
    came_after_ms: int, start_quorum: StartQuorum
) -> None:
    """Neither another request, nor the first Fetch of a majority, ends it before it has read the others."""
    quorum = start_quorum(31, [1, 2, 3, 4, 5])
    leader, fetches = suspended_leader(quorum)
    quorum.run_for(came_after_ms)
    for request in (describe_quorum(), *fetches):
        send(quorum, leader, request)
    quorum.run_for(CHECK_QUORUM_MS + 500 - came_after_ms)
    leader.resume()
    quorum.run_for(1)
    assert leader.raft.is_leader
    quorum.run_for(CHECK_QUORUM_MS)
    assert not leader.raft.is_leader, "they have not fetched again"


def test_a_leader_resigns_after_a_pause_when_no_fetch_waits(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(31, [1, 2, 3, 4, 5])
    leader, _ = suspended_leader(quorum)
    send(quorum, leader, describe_quorum())
    quorum.run_for(CHECK_QUORUM_MS + 500)
    leader.resume()
    quorum.run_for(1)
    assert not leader.raft.is_leader


def test_a_follower_reads_the_answer_of_its_leader_before_it_asks_for_votes(
    start_quorum: StartQuorum,
) -> None:
    """A client's request is read first: it must neither end the fetch timeout nor the time of the Fetch."""
    quorum = start_quorum(32, [1, 2, 3])
    leader = quorum.led()
    quorum.run_for(1_000)
    follower = quorum.followers()[0]
    since = len(quorum.trace)
    follower.freeze()
    send(quorum, follower, describe_quorum())
    quorum.run_for(FETCH_TIMEOUT_MS + 700)
    follower.resume()
    quorum.run_for(1)
    assert follower.raft.state_name == "Follower"
    quorum.append(leader, 1)
    quorum.run_for(100)
    assert follower.raft.end_offset == leader.raft.end_offset
    assert not [line for line in quorum.lines(follower.node_id, since) if "Prospective" in line]
