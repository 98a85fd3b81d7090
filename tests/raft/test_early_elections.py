"""KIP-996, KIP-595: voters elect before their fetch timeout when the leader is gone, and only then."""

from __future__ import annotations

import pytest

from kraftctl.raft.early_election_limit import ATTEMPTS_PER_EPOCH_MAX, INTERVAL_MS, EarlyElectionLimit
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.states import Follower
from kraftctl_protocol.api_keys import ApiKey
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]
SLOW = {"controller.quorum.fetch.timeout.ms": "60000"}
"""An election within a test is then an early one."""


def prospective_count(quorum: Quorum, node_id: int, since: int = 0) -> int:
    lines = quorum.lines(node_id, since)
    return sum("Transition to Prospective" in line and "from Follower" in line for line in lines)


def refuse(quorum: Quorum, leader: ControllerProcess, *others: ControllerProcess) -> None:
    quorum.wire.refused |= {(other.node_id, leader.node_id) for other in others}


def last_fetch(quorum: Quorum, process: ControllerProcess, since: int = 0) -> int:
    """The send id of its last Fetch."""
    sent = [line.split(" ") for line in quorum.lines(process.node_id, since) if "FetchRequest" in line]
    return [int(words[1]) for words in sent if words[0] == "send"][-1]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("voter_count", [3, 4, 5])
def test_a_killed_leader_is_replaced_in_a_fraction_of_a_second(
    voter_count: int, dynamic: bool, start_quorum: StartQuorum
) -> None:
    """Its address refuses connections. No voter waits for the fetch timeout, and one epoch is enough."""
    quorum = start_quorum(21, list(range(1, voter_count + 1)), [11], dynamic=dynamic, properties=SLOW)
    leader, epoch = quorum.led(), quorum.led().raft.epoch
    quorum.append(leader, 3)
    quorum.run_for(1_000)
    leader.kill()
    quorum.run_for(300)
    assert quorum.led() is not leader
    voters = [process for process in quorum.followers() if process is not leader]
    assert {process.raft.epoch for process in voters} == {epoch + 1}
    quorum.end_well()


def test_observers_learn_of_the_new_leader_without_waiting(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(22, VOTERS, [11, 12], properties=SLOW)
    quorum.led().kill()
    quorum.run_for(500)
    leader = quorum.led()
    quorum.append(leader, 3)
    quorum.run_for(100)
    for observer_id in (11, 12):
        assert quorum.processes[observer_id].raft.high_watermark == leader.raft.high_watermark


def test_a_voter_without_pre_votes_makes_no_candidate_of_a_hint(start_quorum: StartQuorum) -> None:
    """A candidate would end the epoch of the leader, whether the hint is right or wrong."""
    quorum = start_quorum(24, VOTERS, properties=SLOW)
    leader, epoch = quorum.led(), quorum.led().raft.epoch
    alone, old = quorum.followers()
    quorum.crash(old)
    old.versions_max = {ApiKey.VOTE: 1}
    old.start()
    quorum.run_for(1_000)
    since = len(quorum.trace)
    refuse(quorum, leader, alone)
    quorum.run_for(30_000)
    assert prospective_count(quorum, alone.node_id, since) > 0
    assert (quorum.led(), quorum.led().raft.epoch) == (leader, epoch), "StableLeadership"
    quorum.end_well()


def test_an_address_where_the_leader_never_answered_says_nothing(start_quorum: StartQuorum) -> None:
    """It may be a former one: the follower has fetched through bootstrap servers."""
    quorum = start_quorum(25, VOTERS, properties=SLOW)
    quorum.led()
    follower = quorum.followers()[0]
    state = follower.raft._core.state
    assert isinstance(state, Follower)
    for has_reached_leader in (False, True):
        since = len(quorum.trace)
        state.has_reached_leader = has_reached_leader
        follower.loop.offer(ResponseReceived(last_fetch(quorum, follower), None, refused=True))
        quorum.run_for(1_000)
        assert prospective_count(quorum, follower.node_id, since) == int(has_reached_leader)


def test_one_follower_that_is_refused_ends_no_leadership(start_quorum: StartQuorum) -> None:
    """The other fetches, and refuses each pre-vote. The attempts are few."""
    quorum = start_quorum(23, VOTERS)
    leader, epoch = quorum.led(), quorum.led().raft.epoch
    alone = quorum.followers()[0]
    since = len(quorum.trace)
    refuse(quorum, leader, alone)
    quorum.run_for(1_500)
    assert 1 <= prospective_count(quorum, alone.node_id, since) <= ATTEMPTS_PER_EPOCH_MAX
    quorum.run_for(30_000)
    assert (quorum.led(), quorum.led().raft.epoch) == (leader, epoch), "StableLeadership"
    quorum.end_well()


def test_a_lost_attempt_leaves_the_fetch_timeout_as_it_was(start_quorum: StartQuorum) -> None:
    """A follower beside Kafka's, which refuse pre-votes until their own timeout, is not slower than they."""
    quorum = start_quorum(24, VOTERS)
    leader, alone = quorum.led(), quorum.followers()[0]
    quorum.run_for(100)
    refuse(quorum, leader, alone)
    deadline_ms = alone.raft._core.state.deadline_ms
    quorum.run_for(1_000)
    assert prospective_count(quorum, alone.node_id) >= 1
    assert alone.raft._core.state.name == "Follower"
    assert deadline_ms <= alone.raft._core.state.deadline_ms <= deadline_ms + 600, "one more Fetch, or none"


def test_an_answer_of_the_leader_takes_the_suspicion_back(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(25, VOTERS)
    leader, follower = quorum.led(), quorum.followers()[1]
    epoch = leader.raft.epoch
    refuse(quorum, leader, follower)
    quorum.run_until(lambda: prospective_count(quorum, follower.node_id) > 0, 5_000, "an early election")
    quorum.wire.refused.clear()
    quorum.run_for(1_000)
    state = follower.raft._core.state
    assert (state.name, state.is_leader_gone(), follower.raft.epoch) == ("Follower", False, epoch)


def test_a_network_that_refuses_all_again_and_again_raises_few_epochs(start_quorum: StartQuorum) -> None:
    """Each leader is refused by all others for 50 ms, twice in a second."""
    quorum = start_quorum(26, VOTERS)
    before = quorum.led().raft.epoch
    for _ in range(40):
        leader = quorum.leader()
        if leader is not None:
            refuse(quorum, leader, *[other for other in quorum.running() if other is not leader])
        quorum.run_for(50)
        quorum.wire.refused.clear()
        quorum.run_for(450)
    epochs = max(process.raft.epoch for process in quorum.running()) - before
    assert epochs <= 20 / 2 * 3, "each replica begins one in a fetch timeout"
    quorum.end_well()


def test_a_refusal_that_concerns_a_former_leader_says_nothing(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(27, VOTERS)
    former = quorum.led()
    asked = {process.node_id: last_fetch(quorum, process) for process in quorum.followers()}
    former.stop()
    quorum.run_for(3_000)
    follower = next(process for process in quorum.followers() if process is not former)
    since = len(quorum.trace)
    follower.loop.offer(ResponseReceived(asked[follower.node_id], None, refused=True))
    quorum.run_for(1_000)
    assert prospective_count(quorum, follower.node_id, since) == 0
    follower.loop.offer(ResponseReceived(last_fetch(quorum, follower), None, refused=True))
    quorum.run_for(1_000)
    assert prospective_count(quorum, follower.node_id, since) == 1


def test_no_answer_in_time_is_no_refusal(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(28, VOTERS, properties=SLOW)
    leader = quorum.led()
    quorum.wire.isolate(leader.node_id, [1, 2, 3])
    quorum.run_for(20_000)
    assert all(prospective_count(quorum, process.node_id) == 0 for process in quorum.followers())


def test_two_voters_cannot_replace_their_leader(start_quorum: StartQuorum) -> None:
    """There is no majority without it, so nothing is tried."""
    quorum = start_quorum(29, [1, 2], properties=SLOW)
    follower = quorum.followers()[0]
    since = len(quorum.trace)
    quorum.led().kill()
    quorum.run_for(5_000)
    assert prospective_count(quorum, follower.node_id, since) == 0
    quorum.end_well()


def test_a_leader_that_stops_hands_over_in_one_epoch(start_quorum: StartQuorum) -> None:
    """KIP-595: it names its successors, the most caught up first, and stays until the next epoch begins."""
    quorum = start_quorum(30, [1, 2, 3, 4, 5], properties=SLOW)
    leader, epoch = quorum.led(), quorum.led().raft.epoch
    behind = quorum.followers()[:2]
    for process in behind:
        quorum.wire.isolate(process.node_id, [leader.node_id])
    quorum.append(leader, 5)
    quorum.run_for(500)
    quorum.wire.cut.clear()
    leader.stop()
    quorum.run_for(200)
    assert not leader.is_running
    assert quorum.led() not in behind
    assert quorum.led().raft.epoch == epoch + 1
    quorum.end_well()


def test_a_stopping_leader_stays_to_vote(start_quorum: StartQuorum) -> None:
    """As the only one that grants: Kafka's followers refuse a pre-vote here, and this one is not reached."""
    quorum = start_quorum(31, VOTERS, properties=SLOW)
    leader = quorum.led()
    successor, last = quorum.followers()
    quorum.wire.isolate(successor.node_id, [last.node_id])
    quorum.wire.faults = LinkFaults(slow_links={(successor.node_id, leader.node_id): 50_000})
    leader.stop()
    quorum.run_for(450)
    assert not leader.is_running
    assert quorum.leader() is successor
    quorum.end_well()


def test_a_stopping_leader_without_successor_does_not_wait_long(start_quorum: StartQuorum) -> None:
    """All are stopped: no voter elects another leader."""
    quorum = start_quorum(32, VOTERS)
    leader = quorum.led()
    leader.stop()
    quorum.run_for(3)
    for process in quorum.running():
        process.stop()
    quorum.run_for(5_100)
    assert not quorum.running()


def test_the_limit_counts_attempts_of_one_epoch_and_pauses_after_one_that_was_won() -> None:
    limit = EarlyElectionLimit()
    assert [limit.admits(5, 0) for _ in range(ATTEMPTS_PER_EPOCH_MAX + 1)] == (
        [True] * ATTEMPTS_PER_EPOCH_MAX + [False]
    )
    assert not limit.admits(5, INTERVAL_MS - 1)
    assert limit.admits(5, INTERVAL_MS)
    limit.won(INTERVAL_MS, 2_000)
    assert not limit.admits(6, INTERVAL_MS + 1_999)
    assert limit.admits(6, INTERVAL_MS + 2_000)
