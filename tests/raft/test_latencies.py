"""The durations of commits and elections, in a real quorum and alone."""

from __future__ import annotations

from kraftctl.raft.latencies import CommitLatency, ElectionLatency
from tests.support.progress_cases import ALL
from tests.support.simulator.cluster.bare_raft import BareNode, Network


def test_one_append_is_measured_at_a_time() -> None:
    latency = CommitLatency()
    latency.appended(10, 1_000)
    latency.appended(20, 1_005)
    latency.committed(9, 1_010)
    assert latency.take() == (0, 0, 0)
    latency.committed(20, 1_030)
    latency.committed(21, 1_040)
    assert latency.take() == (1, 30, 30)
    assert latency.take() == (0, 0, 0)


def test_an_append_of_a_former_leader_is_not_measured() -> None:
    latency = CommitLatency()
    latency.appended(10, 1_000)
    latency.lost()
    latency.committed(10, 9_000)
    assert latency.take() == (0, 0, 0)


def test_an_election_lasts_from_its_first_attempt() -> None:
    latency = ElectionLatency()
    latency.end(50)
    latency.begin(100)
    latency.begin(200)
    latency.end(350)
    latency.end(400)
    assert latency.take() == (1, 250, 250)


def test_each_voter_measures_its_own_elections_and_the_leader_its_commits() -> None:
    network = Network()
    nodes = [BareNode(network, node_id, ALL).start() for node_id in ALL]
    network.run_for(6)
    for node in nodes:
        commits, elections = node.raft.take_latencies()
        assert (commits[0] > 0) == node.raft.is_leader
        figures = node.raft.figures(network.time.now_ms)
        assert figures.state == ("leader" if node.raft.is_leader else "follower")
        assert (elections[0] > 0) or not node.raft.is_leader
        assert figures.voters_count == 3
        assert figures.unknown_voters_count == 0
    (leader,) = [node for node in nodes if node.raft.is_leader]
    figures = leader.raft.figures(network.time.now_ms)
    assert figures.reached_voters_count == 3
    assert sorted(each.key.id for each in figures.replicas) == sorted({1, 2, 3} - {leader.node_id})
    assert all(each.is_voter and each.lag == 0 for each in figures.replicas)


def test_a_voter_that_is_dead_since_before_the_election_lags_more_and_more() -> None:
    """What it has is not known; that it lacks the records of this epoch is, and since when."""
    network = Network()
    nodes = [BareNode(network, node_id, ALL).start() for node_id in (1, 2)]
    network.run_for(20)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    ages_ms = []
    for _ in range(2):
        by_id = {each.key.id: each for each in leader.raft.figures(network.time.now_ms).replicas}
        figures = by_id.pop(3)
        assert (figures.lag, figures.last_fetch_ms, figures.caught_up_ms) == (-1, -1, -1)
        ages_ms.append(figures.behind_ms)
        (other,) = by_id.values()
        assert (other.lag, other.behind_ms) == (0, 0)
        assert other.last_fetch_ms >= 0
        network.run_for(10)
    assert 5_000 < ages_ms[0] <= 20_000
    assert ages_ms[1] - ages_ms[0] == 10_000
