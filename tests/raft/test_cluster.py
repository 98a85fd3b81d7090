"""Voters elect, replicate, lose messages, processes and power: invariants after every effect."""

from __future__ import annotations

import pytest

from tests.support.effort import seeds
from tests.support.simulator.raft_chaos import run_chaos, settle
from tests.support.simulator.raft_cluster import RaftCluster
from tests.support.simulator.raft_faults import Faults


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("voter_count", [1, 2, 3, 5])
def test_a_calm_cluster_elects_once_and_replicates(voter_count: int, dynamic: bool) -> None:
    voter_ids = list(range(1, voter_count + 1))
    cluster = RaftCluster(1, voter_ids, [11, 12], dynamic=dynamic, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    leaders = dict(cluster.leaders)
    for _ in range(50):
        cluster.append(leader, 2)
        cluster.run_for(20)
    settle(cluster)
    assert cluster.leaders == leaders, "StableLeadership"


def test_an_idle_cluster_is_quiet() -> None:
    """KAFKA-19605: one long poll per follower and half a second, and hardly anything else."""
    cluster = RaftCluster(2, [1, 2, 3], [11], dynamic=True, faults=Faults())
    cluster.run_for(10_000)
    before = len(cluster.lines)
    cluster.run_for(60_000)
    assert len(cluster.lines) - before < 60 * 2 * 3 * 2 * 2


def test_another_voter_leads_after_the_leader_crashed() -> None:
    cluster = RaftCluster(3, [1, 2, 3], [11], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    cluster.append(leader, 3)
    cluster.crash(leader.node_id)
    cluster.run_for(10_000)
    successor = cluster.leader()
    assert successor is not None
    assert successor is not leader
    cluster.append(successor, 3)
    cluster.run_for(1_000)
    settle(cluster)


def test_an_isolated_leader_resigns_and_commits_nothing() -> None:
    """KAFKA-15489: within 1.5 fetch timeouts; what it appended meanwhile is truncated."""
    cluster = RaftCluster(4, [1, 2, 3], [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    assert leader.node is not None
    cluster.isolate(leader.node_id)
    cluster.append(leader, 3)
    high_watermark = leader.high_watermark
    cluster.run_for(3_100)
    assert not leader.node.is_leader
    assert leader.high_watermark == high_watermark
    cluster.run_for(10_000)
    successor = cluster.leader()
    assert successor is not None
    cluster.append(successor, 5)
    settle(cluster)
    assert any("truncate" in line for line in cluster.lines if f" {leader.node_id} " in line)


def test_a_leader_counts_only_what_is_on_its_disk() -> None:
    """MajorityReachedHighWatermark: its fsync takes seconds, one of two followers is down.

    What is appended while an fsync runs is not on disk when that one ends.
    """
    cluster = RaftCluster(8, [1, 2, 3], [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    cluster.isolate(next(voter_id for voter_id in cluster.voter_ids if voter_id != leader.node_id))
    cluster.faults = Faults(disks={leader.node_id: lambda rng: 2_000})
    before = leader.high_watermark
    cluster.append(leader, 1)
    cluster.run_for(1_000)
    cluster.append(leader, 1)
    cluster.run_for(900)
    holders = [replica for replica in cluster.replicas.values() if replica.disk.flushed_offset == before + 2]
    assert len(holders) == 1
    assert leader.high_watermark == before
    cluster.run_for(1_000)
    assert leader.high_watermark == before + 1
    cluster.run_for(2_000)
    assert leader.high_watermark == before + 2


def test_a_follower_that_comes_and_goes_does_not_disturb_the_leader() -> None:
    """KIP-996: it asks for pre-votes before it raises the epoch."""
    cluster = RaftCluster(5, [1, 2, 3], [], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    assert leader.node is not None
    epoch = leader.node.epoch
    follower_id = next(voter_id for voter_id in cluster.voter_ids if voter_id != leader.node_id)
    for _ in range(3):
        cluster.isolate(follower_id)
        cluster.run_for(8_000)
        cluster.cut.clear()
        cluster.run_for(4_000)
    assert leader.node.epoch == epoch
    assert leader.node.is_leader


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_what_is_only_in_a_snapshot_is_downloaded(dynamic: bool) -> None:
    """KIP-630: in slices, over several requests; then the log continues from there."""
    cluster = RaftCluster(6, [1, 2, 3], [11], dynamic=dynamic, faults=Faults(loss=0.05))
    cluster.run_for(6_000)
    leader = cluster.leader()
    assert leader is not None
    behind = next(voter_id for voter_id in cluster.voter_ids if voter_id != leader.node_id)
    cluster.crash(behind)
    cluster.append(leader, 400)
    cluster.append(leader, 400)
    cluster.run_for(2_000)
    cluster.take_snapshot(leader)
    cluster.append(leader, 3)
    cluster.run_for(2_000)
    settle(cluster)
    lines = [line for line in cluster.lines if line.split(" ")[1] == str(behind)]
    assert any("start over" in line for line in lines)


@pytest.mark.parametrize("voter_count", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", seeds(8))
def test_chaos(seed: int, voter_count: int) -> None:
    """Slow disks, crashes between two effects, tails lost in part, lost logs and votes: see raft_chaos.py."""
    run_chaos(seed * 10 + voter_count, voter_count)


def test_one_seed_is_one_history() -> None:
    assert run_chaos(77, 3).lines == run_chaos(77, 3).lines
