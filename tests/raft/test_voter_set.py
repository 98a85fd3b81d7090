"""KIP-853: voter keys, one change at a time, and which sets may follow each other."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_history import VoterHistory
from kraftctl.raft.voter_set import VoterNode, VoterSet, static_voter_set, voter_set_from_record
from kraftctl_protocol.generated.voters_record import Endpoint, Voter, VotersRecord
from kraftctl_protocol.primitives import DecodeError
from tests.support.raft_names import replica_key, voter_node
from tests.support.simulator.checks.voter_changes import majorities_overlap


def voters(*ids: int) -> VoterSet:
    return VoterSet([voter_node(voter_id) for voter_id in ids])


@pytest.mark.parametrize(
    ("replica", "expected"),
    [
        pytest.param(replica_key(1), True, id="same-directory"),
        pytest.param(replica_key(1, 1), False, id="new-disk"),
        pytest.param(ReplicaKey(1), False, id="directory-not-named"),
        pytest.param(replica_key(4), False, id="other-id"),
    ],
)
def test_who_is_a_voter(replica: ReplicaKey, expected: bool) -> None:
    assert voters(1, 2, 3).is_voter(replica) is expected


def test_static_voters_are_known_by_id_alone() -> None:
    static = static_voter_set("CONTROLLER", {1: ("a", 1), 2: ("b", 2)})
    assert static.is_voter(replica_key(1))
    assert static.is_voter(replica_key(1, 1))
    assert not static.is_voter(replica_key(3))


def test_changes() -> None:
    assert voters(1, 2).with_voter(voter_node(3)) == voters(1, 2, 3)
    assert voters(1, 2).with_voter(voter_node(2)) is None
    assert voters(1, 2).without_voter(replica_key(2)) == voters(1)
    assert voters(1, 2).without_voter(replica_key(2, 1)) is None
    assert voters(1).without_voter(replica_key(1)) is None
    moved = VoterNode(replica_key(2), {"CONTROLLER": ("elsewhere", 1)}, 0, 1)
    assert voters(1, 2).needs_update(moved)
    assert not voters(1, 2).needs_update(voter_node(2))
    assert not voters(1).needs_update(moved)
    updated = voters(1, 2).updated_voter(moved)
    assert updated is not None
    assert updated.endpoints(2) == {"CONTROLLER": ("elsewhere", 1)}
    assert voters(1).updated_voter(moved) is None


@given(
    st.sets(st.integers(min_value=1, max_value=6), min_size=1),
    st.sets(st.integers(min_value=1, max_value=6), min_size=1),
)
def test_sets_that_may_follow_each_other_share_every_majority(before: set[int], after: set[int]) -> None:
    one, other = voters(*before), voters(*after)
    is_one_change = len(before ^ after) <= 1
    assert majorities_overlap(one, other) == is_one_change
    if is_one_change:
        for majority in combinations(before, len(before) // 2 + 1):
            for other_majority in combinations(after, len(after) // 2 + 1):
                assert set(majority) & set(other_majority)


def test_record_round_trip() -> None:
    record = VotersRecord.decode(voters(3, 1, 2).to_record().encode(0), 0)
    assert voter_set_from_record(record) == voters(1, 2, 3)


def test_names_in_a_record_are_read_as_kafka_reads_them_and_none_that_ends_kafka_stays() -> None:
    """A log may have names of blanks: requests were once accepted with them."""
    names = ("controller", " ", "Other", "\0", "")
    endpoints = [Endpoint(name=name, host=f"{len(name)}", port=1) for name in names]
    read = voter_set_from_record(VotersRecord(voters=[Voter(voter_id=1, endpoints=endpoints)]))
    assert read.endpoints(1) == {"CONTROLLER": ("10", 1), "OTHER": ("5", 1)}
    with pytest.raises(DecodeError, match="voter 1 without endpoints"):
        voter_set_from_record(VotersRecord(voters=[Voter(voter_id=1, endpoints=endpoints[3:])]))


def test_history_falls_back_when_the_log_is_truncated() -> None:
    history = VoterHistory(VoterSet([]), [(-1, voters(1))], [(-1, 1)])
    history.add_voters(10, voters(1, 2))
    history.add_voters(20, voters(1, 2, 3))
    assert history.current == voters(1, 2, 3)
    assert history.voters_at(20) == voters(1, 2)
    assert history.voters_at(21) == voters(1, 2, 3)
    history.truncate_to(20)
    assert history.current == voters(1, 2)
    history.truncate_to(5)
    assert history.current == voters(1)
    assert history.kraft_version() == 1
