"""LeaderCompleteness: a replica's Fetch and Vote requests name only what is on its disk."""

from __future__ import annotations

from kraftctl.raft.effects import SendRequest
from kraftctl.raft.election_state import ElectionState
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.simulator.raft_cluster import RaftCluster
from tests.support.simulator.raft_faults import Faults

VOTERS = [1, 2, 3]


def test_a_candidate_claims_only_what_is_on_its_disk() -> None:
    """C has a record in memory while its fsync stalls, and becomes a candidate after its leader crashed."""
    cluster = RaftCluster(31, VOTERS, [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    b, c = (cluster.replicas[voter_id] for voter_id in VOTERS if voter_id != leader.node_id)
    cluster.faults = Faults(disks={c.node_id: lambda rng: 60_000})
    cluster.append(leader, 1)
    cluster.run_for(200)
    assert c.disk.end_offset == leader.high_watermark > c.disk.flushed_offset
    cluster.crash(leader.node_id)
    cluster.freeze(b.node_id)
    while c.node is not None and c.node.state_name != "Prospective":
        cluster.run_for(10)
    cluster.resume(b.node_id)
    cluster.run_for(15_000)
    asked = [
        entry.request.topics[0].partitions[0].last_offset
        for _, node_id, entry in cluster.history
        if node_id == c.node_id and isinstance(entry, SendRequest) and isinstance(entry.request, VoteRequest)
    ]
    assert asked
    assert max(asked) <= c.disk.flushed_offset
    assert cluster.leader() is b


def test_a_vote_is_not_repeated_for_a_shorter_log() -> None:
    """LeaderCompleteness: A and B have committed X, which C has in memory only.

    A crashes, B votes for C, C loses power and restarts as candidate of the same epoch, without X.
    """
    cluster = RaftCluster(32, VOTERS, [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    a = cluster.leader()
    assert a is not None
    b, c = (cluster.replicas[voter_id] for voter_id in VOTERS if voter_id != a.node_id)
    cluster.faults = Faults(disks={c.node_id: lambda rng: 60_000})
    cluster.append(a, 1)
    cluster.run_for(200)
    assert c.disk.end_offset == a.high_watermark > c.disk.flushed_offset
    cluster.crash(a.node_id)
    cluster.freeze(b.node_id)
    for _ in range(10_000):
        cluster.run_for(1)
        if c.node is not None and c.node.state_name == "Prospective":
            cluster.resume(b.node_id)
        elif c.node is not None and c.node.state_name == "Candidate":
            cluster.cut.add((b.node_id, c.node_id))
            break
    cluster.run_for(100)
    cluster.crash(c.node_id)
    cluster.cut.clear()
    cluster.restart_all_but(a.node_id)
    cluster.run_for(20_000)
    assert cluster.leader() is b


def test_a_vote_outlives_a_lost_pre_election() -> None:
    """ElectionSafety: B has the vote of epoch 5, no voter answers, and then C asks for it."""
    cluster = RaftCluster(33, VOTERS, [], dynamic=False, faults=Faults())
    for voter_id in VOTERS:
        cluster.crash(voter_id)
    a = cluster.replicas[1]
    a.disk.quorum_state = ElectionState(epoch=5, voted_id=2, current_voters=VOTERS)
    cluster.isolate(1)
    cluster.start(a)
    cluster.run_for(20_000)
    states = [
        line for line in cluster.lines if "Transition to Unattached" in line and "from Prospective" in line
    ]
    assert states
    partition = PartitionData(replica_epoch=5, replica_id=3, last_offset=100, last_offset_epoch=4)
    request = VoteRequest(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    (response,) = cluster.ask(a, request)
    assert isinstance(response, VoteResponse)
    answer = response.topics[0].partitions[0]
    assert (answer.error_code, answer.leader_epoch, answer.vote_granted) == (0, 5, False)
    assert a.disk.quorum_state.voted_id == 2
