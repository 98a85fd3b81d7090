"""Voters elect, replicate, lose messages, processes and power, while all invariants are checked.

Random histories are runs of `make simulate`: tests/simulator/test_simulation.py.
"""

from __future__ import annotations

import pytest

from tests.support.simulator.cluster import threads
from tests.support.simulator.quorum import StartQuorum

VOTERS = [1, 2, 3]


@pytest.mark.parametrize(
    ("voter_count", "dynamic"),
    [
        pytest.param(1, True, id="1-dynamic"),
        pytest.param(2, False, id="2-static"),
        pytest.param(3, True, id="3-dynamic"),
        pytest.param(5, False, id="5-static"),
    ],
)
def test_a_calm_cluster_elects_once_and_replicates(
    voter_count: int, dynamic: bool, start_quorum: StartQuorum
) -> None:
    voter_ids = list(range(1, voter_count + 1))
    quorum = start_quorum(1, voter_ids, [11, 12], dynamic=dynamic)
    leader = quorum.led()
    leaders = dict(quorum.checks.quorum.leaders)
    for _ in range(50):
        quorum.append(leader, 2)
        quorum.run_for(20)
    quorum.end_well()
    assert quorum.checks.quorum.leaders == leaders, "StableLeadership"


@pytest.mark.prevents("KAFKA-19605")
def test_an_idle_cluster_is_quiet(start_quorum: StartQuorum) -> None:
    """KAFKA-19605: one long poll per follower and half a second, and hardly anything else."""
    quorum = start_quorum(2, VOTERS, [11])
    quorum.run_for(4_000)
    before = len(quorum.trace)
    quorum.run_for(60_000)
    messages = [line for line in quorum.lines(since=before) if line.split(" ")[1] in ("send", "respond")]
    assert 60 * 2 * 3 < len(messages) < 60 * 2 * 3 * 2 * 2


@pytest.mark.prevents("KAFKA-15489")
def test_an_isolated_leader_resigns_and_commits_nothing(start_quorum: StartQuorum) -> None:
    """KAFKA-15489: within 1.5 fetch timeouts; what it appended meanwhile is truncated."""
    quorum = start_quorum(4, VOTERS)
    leader = quorum.led()
    quorum.isolate(leader.node_id)
    quorum.append(leader, 3)
    high_watermark = leader.raft.high_watermark
    quorum.run_for(3_100)
    assert not leader.raft.is_leader
    assert leader.raft.high_watermark == high_watermark
    quorum.run_for(10_000)
    successor = quorum.led()
    quorum.append(successor, 5)
    quorum.end_well()
    assert f"truncate {high_watermark}" in quorum.lines(leader.node_id)


def test_a_leader_counts_only_what_is_on_its_disk(
    start_quorum: StartQuorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MajorityReachedHighWatermark: its fsync takes seconds, one of two followers is down.

    What is appended while an fsync runs is not on disk when that one ends.
    """
    monkeypatch.setattr(threads, "LATE_CALLS", 0.0)
    quorum = start_quorum(8, VOTERS)
    leader = quorum.led()
    down, up = quorum.followers()
    quorum.isolate(down.node_id)
    leader.set_speed(lambda rng: 2_000_000)
    before = leader.raft.high_watermark
    quorum.append(leader, 1)
    quorum.run_for(1_000)
    quorum.append(leader, 1)
    quorum.run_for(900)
    holders = [process for process in quorum.running() if quorum.durable_end(process) == before + 2]
    assert holders == [up]
    assert leader.raft.high_watermark == before
    quorum.run_for(1_000)
    assert leader.raft.high_watermark == before + 1
    quorum.run_for(2_000)
    assert leader.raft.high_watermark == before + 2
