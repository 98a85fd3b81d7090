"""KAFKA-15489: a leader does not resign while a majority sends Fetch or FetchSnapshot."""

from __future__ import annotations

from kraftctl_protocol.errors import Errors
from tests.support.simulator.cluster.cluster import PORT
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.quorum import StartQuorum

CHECK_QUORUM_MS = 3_000


def test_a_follower_that_downloads_a_snapshot_keeps_its_leader(start_quorum: StartQuorum) -> None:
    """StableLeadership: for longer than check-quorum it sends FetchSnapshot only, one per 200 ms."""
    quorum = start_quorum(21, [1, 2])
    leader = quorum.led()
    behind = quorum.follower_behind_a_snapshot()
    leaders = dict(quorum.checks.quorum.leaders)
    both_ways = [(behind.node_id, leader.node_id), (leader.node_id, behind.node_id)]
    quorum.wire.faults = LinkFaults(slow_links=dict.fromkeys(both_ways, 100_000))
    began_ms = quorum.time.now_ms
    behind.start()
    while behind.raft.log_start_offset == 0 and quorum.time.now_ms < began_ms + 10 * CHECK_QUORUM_MS:
        quorum.run_for(100)
    took_ms = quorum.time.now_ms - began_ms
    assert took_ms > 1.5 * CHECK_QUORUM_MS, "the download takes longer than check-quorum"
    quorum.run_for(2_000)
    assert quorum.checks.quorum.leaders == leaders
    assert behind.raft.end_offset == leader.raft.end_offset


def test_a_leader_that_adds_the_second_voter_needs_its_fetches_from_then_on(
    start_quorum: StartQuorum,
) -> None:
    """KIP-853: alone it needed no majority but itself. The new voter counts before it has fetched as one."""
    quorum = start_quorum(22, [1], [11])
    leader = quorum.led()
    quorum.add_voter(11)
    for _ in range(500):
        if leader.raft.voter_set.voter_ids() == [1, 11]:
            break
        quorum.run_for(1)
    quorum.isolate(11)
    assert leader.raft.voter_set.voter_ids() == [1, 11]
    assert leader.raft.is_leader
    quorum.run_for(CHECK_QUORUM_MS + 100)
    assert not leader.raft.is_leader


def test_a_change_of_voters_gives_a_leader_that_is_cut_off_no_more_time(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(23, [1, 2, 3])
    leader = quorum.led()
    quorum.run_for(1_000)
    quorum.isolate(leader.node_id)
    quorum.run_for(CHECK_QUORUM_MS // 2)
    quorum.remove_voter(quorum.followers()[0].node_id)
    quorum.run_for(10)
    assert len(leader.raft.voter_set.voter_ids()) == 2
    assert leader.raft.is_leader
    quorum.run_for(CHECK_QUORUM_MS // 2 + 100)
    assert not leader.raft.is_leader


def test_requests_with_its_own_id_do_not_keep_a_leader(start_quorum: StartQuorum) -> None:
    """LeaderHasMajority: it has counted itself already, so they would make a majority of it alone."""
    quorum = start_quorum(24, [1, 2, 3])
    leader = quorum.led()
    quorum.isolate(leader.node_id)
    for _ in range(4):
        assert quorum.update_voter(leader.node_id, PORT).error == Errors.NONE
        quorum.run_for(CHECK_QUORUM_MS // 5)
    quorum.run_for(CHECK_QUORUM_MS // 5 + 500)
    assert not leader.raft.is_leader
