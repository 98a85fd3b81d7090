"""Defects that Kafka's quorum had; each test names the issue."""

from __future__ import annotations

import pytest

from kraftctl.raft.raft_config import CHECK_QUORUM_TIMEOUT_FACTOR, RaftConfig
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.message import Message
from tests.support.simulator.raft_cluster import Faults, RaftCluster, Replica
from tests.support.simulator.raft_transcript import LISTENER, directory_id, endpoint, voter_node
from tests.support.simulator.voter_requests import add_voter, remove_voter

VOTERS = [1, 2, 3]
OBSERVER = 11
FETCH_TIMEOUT_MS = RaftConfig().fetch_timeout_ms


def calm(observers: list[int] | None = None, *, dynamic: bool = True) -> RaftCluster:
    cluster = RaftCluster(9, VOTERS, observers or [], dynamic=dynamic, faults=Faults())
    cluster.run_for(6_000)
    return cluster


def leader_of(cluster: RaftCluster) -> Replica:
    leader = cluster.leader()
    assert leader is not None
    return leader


def followers_of(cluster: RaftCluster) -> list[int]:
    leader = leader_of(cluster)
    return [voter_id for voter_id in VOTERS if voter_id != leader.node_id]


def change(cluster: RaftCluster, request: Message) -> None:
    answers = cluster.ask(leader_of(cluster), request)
    cluster.run_for(3_000)
    assert answers[0].error_code == Errors.NONE


def sent(cluster: RaftCluster, since: int, sender_id: int, receiver_id: int, what: str) -> int:
    """How many such requests were sent, from this line of the history on."""
    host, _ = endpoint(receiver_id)
    lines = [line for line in cluster.lines[since:] if line.split(" ")[1:3] == [str(sender_id), "send"]]
    return sum(f"@{host}: {what}(" in line for line in lines)


# Leaders.


def test_a_voter_that_downloads_a_snapshot_counts_for_check_quorum() -> None:
    """KAFKA-15489: FetchSnapshot counts as Fetch does. The download takes longer than check-quorum."""
    cluster = calm()
    leader = leader_of(cluster)
    behind, other = followers_of(cluster)
    cluster.crash(behind)
    for _ in range(10):
        cluster.append(leader, 400)
    cluster.run_for(1_000)
    cluster.take_snapshot(leader)
    cluster.crash(other)
    cluster.faults = Faults(delay_ms_max=400)
    assert leader.node is not None
    epoch = leader.node.epoch
    start = len(cluster.lines)
    started_ms = cluster.now_ms
    cluster.start(cluster.replicas[behind])
    while not any(f" {behind} start over" in line for line in cluster.lines[start:]):
        cluster.run_for(100)
        assert leader.node.is_leader
        assert leader.node.epoch == epoch
    assert cluster.now_ms - started_ms > 2 * FETCH_TIMEOUT_MS * CHECK_QUORUM_TIMEOUT_FACTOR


def test_a_leader_repeats_begin_quorum_epoch_to_a_silent_voter() -> None:
    """KAFKA-16536: a voter that was restarted may not know its leader."""
    cluster = calm()
    leader = leader_of(cluster)
    silent, other = followers_of(cluster)
    cluster.crash(silent)
    since = len(cluster.lines)
    cluster.run_for(10 * FETCH_TIMEOUT_MS)
    heartbeats = sent(cluster, since, leader.node_id, silent, "BeginQuorumEpochRequest")
    assert 10 <= heartbeats <= 21
    assert sent(cluster, since, leader.node_id, other, "BeginQuorumEpochRequest") <= 1


@pytest.mark.parametrize(
    ("after", "end_offsets"),
    [
        pytest.param([1, 2, 3, 4], {1: 20, 2: 20, 3: 12, 4: 12}, id="one-that-lags-is-added"),
        pytest.param([1, 3], {1: 20, 3: 12}, id="one-that-is-ahead-is-removed"),
        pytest.param([2, 3], {2: 20, 3: 12}, id="the-leader-is-removed"),
    ],
)
def test_the_high_watermark_waits_for_new_voters_and_never_falls(
    after: list[int], end_offsets: dict[int, int]
) -> None:
    """KAFKA-16530: the majority of the new voters is at 12 while 20 is committed already."""
    local_key = ReplicaKey(1, directory_id(1))
    state = Leader(
        5,
        local_key=local_key,
        leader_endpoints={LISTENER: endpoint(1)},
        epoch_start_offset=10,
        voters=VoterSet([voter_node(voter_id) for voter_id in VOTERS]),
        granting_voter_ids=[1, 2],
        deadline_ms=0,
    )
    state.update_local_end_offset(20)
    state.voter_states[2].end_offset = 20
    state.voter_states[3].end_offset = 12
    assert state.advance_high_watermark()
    assert state.high_watermark == 20
    state.set_voters(VoterSet([voter_node(voter_id) for voter_id in after]))
    for voter_id, end_offset in end_offsets.items():
        state.voter_states[voter_id].end_offset = end_offset
    assert not state.advance_high_watermark()
    assert state.high_watermark == 20
    state.update_local_end_offset(30)
    for voter in state.voter_states.values():
        voter.end_offset = 25
    assert state.advance_high_watermark()
    assert state.high_watermark == 25


def test_commits_continue_after_a_follower_and_the_leader_are_removed() -> None:
    """KAFKA-16530: no commit waits for removed voters, not even for the removed leader."""
    cluster = calm([OBSERVER])
    change(cluster, add_voter(OBSERVER))
    change(cluster, remove_voter(followers_of(cluster)[0]))
    former = leader_of(cluster)
    change(cluster, remove_voter(former.node_id))
    cluster.run_for(10_000)
    successor = leader_of(cluster)
    assert successor is not former
    cluster.append(successor, 3)
    cluster.run_for(2_000)
    for replica in cluster.replicas.values():
        assert replica.high_watermark == successor.disk.end_offset


def test_the_last_voter_leads_after_the_leader_beside_it_removed_itself() -> None:
    """KAFKA-16530: the remaining voter keeps fetching until the removal is committed."""
    cluster = calm()
    change(cluster, remove_voter(followers_of(cluster)[0]))
    former = leader_of(cluster)
    change(cluster, remove_voter(former.node_id))
    cluster.run_for(15_000)
    successor = leader_of(cluster)
    assert successor is not former
    assert former.node is not None
    assert not former.node.is_leader
    assert successor.node is not None
    assert successor.node.voter_set.voter_ids() == [successor.node_id]
    cluster.append(successor, 3)
    cluster.run_for(2_000)
    for replica in cluster.replicas.values():
        assert replica.high_watermark == successor.disk.end_offset


# What is known of voters.


def test_describe_quorum_has_the_endpoints_of_an_added_voter() -> None:
    """KAFKA-17604: they are in AddRaftVoter and nowhere else."""
    cluster = calm([OBSERVER])
    change(cluster, add_voter(OBSERVER))
    partitions = [PartitionData(partition_index=0)]
    request = DescribeQuorumRequest(
        topics=[TopicData(topic_name="__cluster_metadata", partitions=partitions)]
    )
    response = cluster.ask(leader_of(cluster), request)[0]
    assert isinstance(response, DescribeQuorumResponse)
    known = {
        node.node_id: [(listener.name, listener.host, listener.port) for listener in node.listeners]
        for node in response.nodes
    }
    assert known == {voter_id: [(LISTENER, *endpoint(voter_id))] for voter_id in [*VOTERS, OBSERVER]}


def test_a_replica_knows_the_voters_when_their_records_are_in_a_snapshot_only() -> None:
    """KAFKA-19850: it downloads the snapshot, and still knows them after a restart."""
    cluster = calm([OBSERVER])
    cluster.crash(OBSERVER)
    removed = followers_of(cluster)[0]
    change(cluster, remove_voter(removed))
    leader = leader_of(cluster)
    cluster.append(leader, 3)
    cluster.run_for(1_000)
    cluster.take_snapshot(leader)
    behind = cluster.replicas[OBSERVER]
    expected = [voter_id for voter_id in VOTERS if voter_id != removed]
    for _ in range(2):
        cluster.start(behind)
        cluster.run_for(5_000)
        assert behind.node is not None
        assert behind.disk.start_offset == leader.disk.start_offset
        assert behind.node.voter_set.voter_ids() == expected
        cluster.crash(OBSERVER)


# Observers.


def test_an_observer_without_any_leader_pauses_between_its_fetches() -> None:
    """KAFKA-19605: every answer is an immediate refusal, yet it does not send requests as fast as it can."""
    cluster = calm([OBSERVER])
    for voter_id in VOTERS:
        cluster.crash(voter_id)
    cluster.run_for(1_000)
    before = len(cluster.lines)
    cluster.run_for(10_000)
    fetches = sum(sent(cluster, before, OBSERVER, voter_id, "FetchRequest") for voter_id in VOTERS)
    # Three bootstrap servers and the former leader, each of them once in a retry backoff.
    assert 4 <= fetches <= 4 * 10_000 // RaftConfig().retry_backoff_ms


def test_an_observer_finds_the_next_leader_after_a_crash() -> None:
    """KAFKA-19354: no request names a new leader to an observer, so it queries the bootstrap servers."""
    cluster = calm([OBSERVER])
    former = leader_of(cluster)
    cluster.crash(former.node_id)
    cluster.run_for(10_000)
    successor = leader_of(cluster)
    observer = cluster.replicas[OBSERVER]
    assert observer.node is not None
    assert observer.node.leader_id == successor.node_id
    cluster.append(successor, 1)
    cluster.run_for(1_000)
    assert observer.high_watermark == successor.disk.end_offset


def test_an_observer_cut_off_from_its_leader_tries_every_server() -> None:
    """KAFKA-20514: within one epoch it queries the leader and all bootstrap servers in turn."""
    cluster = calm([OBSERVER])
    leader = leader_of(cluster)
    assert leader.node is not None
    epoch = leader.node.epoch
    cluster.cut.update({(OBSERVER, leader.node_id), (leader.node_id, OBSERVER)})
    since = len(cluster.lines)
    cluster.run_for(120_000)
    assert leader.node.epoch == epoch
    for voter_id in VOTERS:
        assert sent(cluster, since, OBSERVER, voter_id, "FetchRequest") > 1
    cluster.cut.clear()
    cluster.append(leader, 1)
    cluster.run_for(5_000)
    assert cluster.replicas[OBSERVER].high_watermark == leader.disk.end_offset
