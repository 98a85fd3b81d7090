"""KAFKA-15489: a leader does not resign while a majority sends Fetch or FetchSnapshot."""

from __future__ import annotations

from tests.support.simulator.raft_cluster import RaftCluster
from tests.support.simulator.raft_faults import Faults
from tests.support.simulator.voter_requests import add_voter

CHECK_QUORUM_MS = 3_000


def test_a_follower_that_downloads_a_snapshot_keeps_its_leader() -> None:
    """StableLeadership: for longer than check-quorum it sends FetchSnapshot only, one per 200 ms."""
    cluster = RaftCluster(21, [1, 2], [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    behind = cluster.replicas[3 - leader.node_id]
    for _ in range(20):
        cluster.append(leader, 400)
        cluster.run_for(100)
    cluster.take_snapshot(leader)
    cluster.forget(behind.node_id)
    leaders = dict(cluster.leaders)
    both_ways = [(behind.node_id, leader.node_id), (leader.node_id, behind.node_id)]
    cluster.faults = Faults(slow_links=dict.fromkeys(both_ways, 100))
    began_ms = cluster.now_ms
    cluster.start(behind)
    while behind.disk.start_offset == 0 and cluster.now_ms < began_ms + 10 * CHECK_QUORUM_MS:
        cluster.run_for(100)
    assert cluster.now_ms > began_ms + 1.5 * CHECK_QUORUM_MS, "the download takes longer than check-quorum"
    cluster.run_for(2_000)
    assert cluster.leaders == leaders
    assert behind.disk.end_offset == leader.disk.end_offset


def test_a_leader_that_adds_the_second_voter_needs_its_fetches_from_then_on() -> None:
    """KIP-853: alone it needed no majority but itself. The new voter counts before it has fetched as one."""
    cluster = RaftCluster(22, [1], [11], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    assert leader.node is not None
    cluster.ask(leader, add_voter(11))
    for _ in range(500):
        if leader.node.voter_set.voter_ids() == [1, 11]:
            break
        cluster.run_for(1)
    cluster.isolate(11)
    assert leader.node.voter_set.voter_ids() == [1, 11]
    assert leader.node.is_leader
    cluster.run_for(CHECK_QUORUM_MS + 100)
    assert not leader.node.is_leader
