"""A voter restarts with its identity but without its log and its votes: no acknowledged record is lost."""

from __future__ import annotations

import pytest

from tests.support.effort import seeds
from tests.support.simulator.raft_cluster import RaftCluster, Replica
from tests.support.simulator.raft_faults import Faults

VOTERS = [1, 2, 3]


def led_cluster(seed: int, *, dynamic: bool) -> tuple[RaftCluster, Replica, list[int]]:
    """With its leader and the ids of the other two."""
    cluster = RaftCluster(seed, VOTERS, [], dynamic=dynamic, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    return cluster, leader, [voter_id for voter_id in VOTERS if voter_id != leader.node_id]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("seed", seeds(3))
def test_it_does_not_elect_a_leader_that_lacks_what_it_acknowledged(seed: int, dynamic: bool) -> None:
    """LeaderCompleteness: A and B have the records; B loses them, A crashes; B and C are a majority."""
    cluster, leader, (b, c) = led_cluster(seed, dynamic=dynamic)
    cluster.isolate(c)
    cluster.append(leader, 5)
    cluster.run_for(500)
    assert leader.high_watermark == leader.disk.end_offset
    cluster.crash(leader.node_id)
    cluster.forget(b)
    cluster.cut.clear()
    cluster.restart_all_but(leader.node_id)
    cluster.run_for(20_000)
    assert cluster.leader() is None, "no remaining voter has what is committed"
    cluster.restart_all()
    cluster.run_for(20_000)
    assert cluster.leader() is leader
    assert cluster.replicas[b].recovering_epoch is None
    assert cluster.replicas[b].disk.end_offset == leader.disk.end_offset


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("snapshot", [False, True], ids=["log", "snapshot"])
def test_it_votes_again_once_it_has_what_the_leader_has_committed(dynamic: bool, snapshot: bool) -> None:
    cluster, leader, (b, c) = led_cluster(1, dynamic=dynamic)
    cluster.append(leader, 5)
    cluster.run_for(500)
    if snapshot:
        cluster.take_snapshot(leader)
        cluster.append(leader, 2)
        cluster.run_for(500)
    cluster.forget(b)
    cluster.restart_all()
    cluster.run_for(5_000)
    assert cluster.replicas[b].recovering_epoch is None
    cluster.crash(leader.node_id)
    cluster.run_for(15_000)
    successor = cluster.leader()
    assert successor is not None
    assert successor.node_id in (b, c)


def test_it_stays_silent_across_restarts_until_then() -> None:
    cluster, leader, (b, c) = led_cluster(2, dynamic=True)
    cluster.append(leader, 5)
    cluster.run_for(500)
    epoch = leader.node.epoch if leader.node else -1
    cluster.crash(leader.node_id)
    cluster.crash(c)
    cluster.forget(b)
    for _ in range(3):
        cluster.restart_all_but(leader.node_id, c)
        cluster.run_for(5_000)
        replica = cluster.replicas[b]
        assert replica.node is not None
        assert replica.node.epoch == epoch, "MonotonicEpoch"
        assert replica.recovering_epoch == epoch
        cluster.crash(b)


def test_a_vote_that_is_forgotten_is_not_given_twice() -> None:
    """ElectionSafety: a leader of an epoch before that of the vote is not enough to vote again."""
    cluster, leader, (b, c) = led_cluster(3, dynamic=True)
    assert leader.node is not None
    leader_epoch = leader.node.epoch
    cluster.forget(b)
    cluster.replicas[b].recovering_epoch = leader_epoch + 1
    cluster.isolate(c)
    cluster.restart_all()
    cluster.run_for(900)
    assert cluster.replicas[b].recovering_epoch is not None
    cluster.cut.clear()
    cluster.run_for(20_000)
    assert cluster.replicas[b].recovering_epoch is None
    successor = cluster.leader()
    assert successor is not None
    assert successor.node is not None
    assert successor.node.epoch > leader_epoch


def test_it_waits_for_its_leader_no_longer_than_the_fetch_timeout_once_it_has_recovered() -> None:
    """KIP-595: the fetch timer runs from the moment of recovery, not only from the next response."""
    cluster, leader, (b, _) = led_cluster(4, dynamic=True)
    cluster.append(leader, 5)
    cluster.run_for(500)
    cluster.forget(b)
    cluster.restart_all()
    replica = cluster.replicas[b]
    for _ in range(5_000):
        if replica.recovering_epoch is None:
            break
        cluster.run_for(1)
    cluster.isolate(b)
    assert replica.recovering_epoch is None
    assert replica.node is not None
    assert replica.node.state_name == "Follower"
    cluster.run_for(2_100)
    assert replica.node.state_name == "Prospective"
