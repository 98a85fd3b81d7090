"""The table of transitions: every pair of states, every relation of their epochs."""

from __future__ import annotations

import pytest

from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.quorum_state import LEGAL_TRANSITIONS, is_legal
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Candidate, EpochState, Follower, Leader, Prospective, Resigned, Unattached
from kraftctl.raft.voter_set import VoterSet
from tests.support.raft_names import directory_id, voter_node

KEY = ReplicaKey(1, directory_id(1))
VOTERS = VoterSet([voter_node(1), voter_node(2)])
ENDPOINTS = {"CONTROLLER": ("host", 1)}


def state(name: str, epoch: int) -> EpochState:
    election = EpochElection(VOTERS, 1)
    match name:
        case "Unattached":
            return Unattached(epoch)
        case "Follower":
            return Follower(
                epoch,
                leader_id=2,
                leader_endpoints=ENDPOINTS,
                voted_key=None,
                deadline_ms=0,
                update_voter_at_ms=0,
            )
        case "Prospective":
            return Prospective(
                epoch, leader_id=-1, leader_endpoints={}, voted_key=None, deadline_ms=0, election=election
            )
        case "Candidate":
            return Candidate(epoch, voted_key=KEY, deadline_ms=0, election=election)
        case "Leader":
            return Leader(
                epoch,
                local_key=KEY,
                leader_endpoints=ENDPOINTS,
                epoch_start_offset=0,
                voters=VOTERS,
                granting_voter_ids=[1, 2],
                deadline_ms=0,
            )
    return Resigned(
        epoch,
        leader_id=1,
        leader_endpoints=ENDPOINTS,
        deadline_ms=0,
        unacked_voter_ids=[2],
        preferred_successors=[],
    )


NAMES = ["Unattached", "Follower", "Prospective", "Candidate", "Leader", "Resigned"]


@pytest.mark.parametrize("old", NAMES)
@pytest.mark.parametrize("new", NAMES)
def test_no_transition_goes_back_in_epochs(old: str, new: str) -> None:
    assert not is_legal(state(old, 5), state(new, 4))


@pytest.mark.parametrize("new", NAMES)
def test_leadership_is_won_by_candidates_in_their_own_epoch_only(new: str) -> None:
    for epoch in (5, 6, 7):
        assert is_legal(state(new, 5), state("Leader", epoch)) == (new == "Candidate" and epoch == 5)


@pytest.mark.prevents("KAFKA-10527")
@pytest.mark.parametrize("old", ["Leader", "Resigned"])
def test_a_former_leader_does_not_follow_in_its_epoch(old: str) -> None:
    """KAFKA-10527."""
    assert not is_legal(state(old, 5), state("Follower", 5))
    assert not is_legal(state(old, 5), state("Unattached", 5))
    assert is_legal(state(old, 5), state("Follower", 6))


@pytest.mark.parametrize("old", NAMES)
def test_only_a_prospective_replica_raises_the_epoch_by_itself(old: str) -> None:
    """KIP-996."""
    assert is_legal(state(old, 5), state("Candidate", 6)) == (old == "Prospective")


@pytest.mark.parametrize("old", NAMES)
def test_every_state_joins_a_higher_epoch(old: str) -> None:
    """MonotonicEpoch must not stop the quorum."""
    assert is_legal(state(old, 5), state("Unattached", 9))
    assert is_legal(state(old, 5), state("Follower", 9))


def test_every_state_can_be_left_and_all_but_resigned_entered_from_two_sides() -> None:
    assert {old for old, _ in LEGAL_TRANSITIONS} == set(NAMES)
    assert {new for _, new in LEGAL_TRANSITIONS} == set(NAMES)
