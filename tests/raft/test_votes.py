"""Which votes each state grants (KIP-595; pre-votes: KIP-996), and which elections are won."""

from __future__ import annotations

import pytest

from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.handle_end_quorum_epoch import election_backoff_ms
from kraftctl.raft.handle_vote import may_grant_pre_vote, may_grant_vote
from kraftctl.raft.high_watermark import high_watermark
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Candidate, EpochState, Follower, Leader, Prospective, Resigned, Unattached
from kraftctl.raft.voter_set import VoterSet
from tests.support.raft_names import directory_id, voter_node
from tests.support.simulator.cluster.raft_transcript import RaftTranscript

VOTERS = VoterSet([voter_node(1), voter_node(2), voter_node(3)])
ENDPOINTS = {"CONTROLLER": ("host", 1)}
ME, CANDIDATE, OTHER = (ReplicaKey(voter_id, directory_id(voter_id)) for voter_id in (1, 2, 3))
CANDIDATE_ON_NEW_DISK = ReplicaKey(2, directory_id(2, 1))
CANDIDATE_OF_UNKNOWN_DISK = ReplicaKey(2)


def unattached(leader_id: int = -1, voted_key: ReplicaKey | None = None) -> EpochState:
    return Unattached(5, leader_id=leader_id, voted_key=voted_key)


def prospective(leader_id: int = -1, voted_key: ReplicaKey | None = None) -> EpochState:
    return Prospective(
        5,
        leader_id=leader_id,
        leader_endpoints=ENDPOINTS,
        voted_key=voted_key,
        deadline_ms=0,
        election=EpochElection(VOTERS, 1),
    )


def follower(*, has_fetched: bool, resigned: bool = False, refused: bool = False) -> EpochState:
    state = Follower(
        5, leader_id=3, leader_endpoints=ENDPOINTS, voted_key=None, deadline_ms=0, update_voter_at_ms=0
    )
    state.has_fetched_from_leader = has_fetched
    state.leader_has_resigned = resigned
    state.leader_refuses = refused
    return state


def candidate() -> EpochState:
    return Candidate(5, voted_key=ME, deadline_ms=0, election=EpochElection(VOTERS, 1))


def leader(epoch_start_offset: int = 10) -> Leader:
    return Leader(
        5,
        local_key=ME,
        leader_endpoints=ENDPOINTS,
        epoch_start_offset=epoch_start_offset,
        voters=VOTERS,
        granting_voter_ids=[1, 2],
        deadline_ms=0,
    )


def resigned() -> EpochState:
    return Resigned(
        5,
        leader_id=1,
        leader_endpoints=ENDPOINTS,
        deadline_ms=0,
        unacked_voter_ids=[2, 3],
        preferred_successors=[],
    )


@pytest.mark.prevents("unflushed-claim")
@pytest.mark.parametrize(
    ("state", "vote", "vote_for_a_shorter_log", "pre_vote"),
    [
        pytest.param(unattached(), True, False, True, id="unattached"),
        pytest.param(unattached(leader_id=3), False, False, True, id="unattached-leader-known"),
        pytest.param(unattached(voted_key=CANDIDATE), True, False, True, id="unattached-voted-for-it"),
        pytest.param(
            unattached(voted_key=CANDIDATE_OF_UNKNOWN_DISK), True, False, True, id="voted-for-its-id"
        ),
        pytest.param(
            unattached(voted_key=CANDIDATE_ON_NEW_DISK), False, False, True, id="voted-for-its-other-disk"
        ),
        pytest.param(unattached(voted_key=OTHER), False, False, True, id="unattached-voted-for-another"),
        pytest.param(prospective(), True, False, True, id="prospective"),
        pytest.param(prospective(leader_id=3), False, False, True, id="prospective-leader-known"),
        pytest.param(prospective(voted_key=OTHER), False, False, True, id="prospective-voted-for-another"),
        pytest.param(follower(has_fetched=False), False, False, True, id="follower-never-fetched"),
        pytest.param(follower(has_fetched=True), False, False, False, id="follower-fetched"),
        pytest.param(
            follower(has_fetched=True, resigned=True), False, False, True, id="follower-of-a-resigned-leader"
        ),
        pytest.param(
            follower(has_fetched=True, refused=True), False, False, True, id="follower-of-a-refusing-leader"
        ),
        pytest.param(candidate(), False, False, True, id="candidate"),
        pytest.param(leader(), False, False, False, id="leader"),
        pytest.param(resigned(), False, False, True, id="resigned"),
    ],
)
def test_votes(state: EpochState, vote: bool, vote_for_a_shorter_log: bool, pre_vote: bool) -> None:
    assert may_grant_vote(state, CANDIDATE, True) is vote
    assert may_grant_vote(state, CANDIDATE, False) is vote_for_a_shorter_log
    assert may_grant_pre_vote(state) is pre_vote


@pytest.mark.parametrize(
    ("voter_count", "granted", "rejected", "won", "lost"),
    [
        pytest.param(1, [], [], True, False, id="alone"),
        pytest.param(2, [], [], False, False, id="two-waiting"),
        pytest.param(2, [2], [], True, False, id="two-agreed"),
        pytest.param(2, [], [2], False, True, id="two-disagreed"),
        pytest.param(3, [2], [3], True, False, id="three-majority"),
        pytest.param(3, [], [3], False, False, id="three-still-open"),
        pytest.param(3, [], [2, 3], False, True, id="three-lost"),
        pytest.param(5, [2], [3, 4], False, False, id="five-still-open"),
        pytest.param(5, [2, 3], [4, 5], True, False, id="five-majority"),
        pytest.param(5, [2], [3, 4, 5], False, True, id="five-lost"),
    ],
)
def test_elections(voter_count: int, granted: list[int], rejected: list[int], won: bool, lost: bool) -> None:
    voters = VoterSet([voter_node(voter_id) for voter_id in range(1, voter_count + 1)])
    election = EpochElection(voters, 1)
    for voter_id in granted:
        election.record(voter_id, True)
    for voter_id in rejected:
        election.record(voter_id, False)
    assert (election.is_won(), election.is_lost()) == (won, lost)
    assert election.granting_voter_ids() == [1, *granted]


@pytest.mark.prevents("KAFKA-12619")
def test_a_majority_on_old_records_commits_nothing() -> None:
    """KAFKA-12619: until a record of its own epoch is committed, a later leader could truncate."""
    state = leader(epoch_start_offset=10)
    state.update_local_end_offset(11)
    assert not state.advance_high_watermark()
    state.voter_states[2].end_offset = 10
    assert not state.advance_high_watermark()
    state.voter_states[2].end_offset = 11
    assert state.advance_high_watermark()
    assert state.high_watermark == 11


@pytest.mark.prevents("tests-that-cannot-fail")
def test_a_change_of_voters_never_lowers_the_high_watermark() -> None:
    """KAFKA-16530: with a voter that lags behind, the same majority may have reached less than before."""
    state = leader(epoch_start_offset=10)
    state.update_local_end_offset(20)
    state.voter_states[2].end_offset = 20
    state.voter_states[3].end_offset = 15
    assert state.advance_high_watermark()
    state.set_voters(VoterSet([voter_node(1), voter_node(3), voter_node(4)]))
    state.voter_states[4].end_offset = 12
    assert high_watermark([voter.end_offset for voter in state.voter_states.values()]) == 15
    assert not state.advance_high_watermark()
    assert state.high_watermark == 20
    assert [key.id for key in state.observer_states] == [2]
    # The leader itself may be removed; it leads until that is committed, without counting itself.
    state.set_voters(VoterSet([voter_node(3), voter_node(4)]))
    state.voter_states[3].end_offset = 25
    assert not state.advance_high_watermark()
    state.voter_states[4].end_offset = 24
    assert state.advance_high_watermark()
    assert state.high_watermark == 24


def test_observers_commit_nothing() -> None:
    """KIP-595: however many of them hold a record, no voter that is elected needs to have it."""
    state = leader(epoch_start_offset=10)
    state.update_local_end_offset(20)
    for node_id in range(11, 21):
        state.replica(ReplicaKey(node_id, directory_id(node_id)), 0).end_offset = 20
    assert not state.advance_high_watermark()


def test_successors_are_named_best_first() -> None:
    state = leader()
    state.voter_states[2].end_offset = 5
    state.voter_states[3].end_offset = 7
    assert [key.id for key in state.voters_by_end_offset()] == [3, 2]


@pytest.mark.parametrize(
    ("position", "successors", "expected_ms"),
    [
        pytest.param(0, 4, 0, id="first"),
        pytest.param(1, 4, 125, id="second"),
        pytest.param(2, 4, 250, id="third"),
        pytest.param(3, 4, 500, id="last"),
        pytest.param(4, 4, 1000, id="not-listed"),
        pytest.param(0, 0, 0, id="none-listed"),
    ],
)
def test_election_backoff(position: int, successors: int, expected_ms: int) -> None:
    assert election_backoff_ms(position, successors, 1000) == expected_ms


def test_a_vote_holds_in_its_epoch_alone() -> None:
    transcript = RaftTranscript()
    for command in ("node id=1 voters=1,2,3 kraft-version=1", "start"):
        transcript.run(command)
    assert "vote_granted=True" in transcript.run("vote epoch=5 candidate=2")
    assert "vote_granted" not in transcript.run("vote epoch=5 candidate=3")
    assert "vote_granted=True" in transcript.run("vote epoch=6 candidate=3")
