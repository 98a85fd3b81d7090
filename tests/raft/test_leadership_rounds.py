"""A leader that is asked whether it leads waits for a Fetch that a majority sent after it was asked."""

from __future__ import annotations

import pytest

from kraftctl.raft import states
from kraftctl.raft.voter_set import VoterNode, VoterSet
from tests.raft.leader_of_three import LeaderOfThree, answered
from tests.support.raft_names import replica_key, voter_node

CONFIRMED = "confirmed round 1"


class Leader(LeaderOfThree):
    """Voters 2 and 3 have everything."""

    def __init__(self) -> None:
        super().__init__()
        self.request_id = 100

    def fetches(self, replica: int) -> str:
        self.request_id += 1
        return self.fetch(self.request_id, replica=replica, offset=1, high_watermark=1)


@pytest.fixture
def leader() -> Leader:
    return Leader()


def test_a_fetch_that_waits_has_a_response_and_proves_nothing(leader: Leader) -> None:
    leader.fetches(2)
    asked = leader.run("confirm")
    assert asked.startswith("round 1")
    assert answered(asked) == [101]
    assert CONFIRMED not in asked
    assert CONFIRMED in leader.fetches(2)


def test_a_fetch_that_was_on_its_way_proves_nothing(leader: Leader) -> None:
    leader.run("confirm")
    on_its_way = leader.fetches(2)
    assert answered(on_its_way) == [101], "it does not wait"
    assert CONFIRMED not in on_its_way
    assert CONFIRMED in leader.fetches(2)


def test_one_voter_that_comes_twice_is_a_majority_of_three_and_the_other_adds_nothing(leader: Leader) -> None:
    leader.run("confirm")
    for _ in range(2):
        leader.fetches(2)
    assert answered(leader.fetches(3)) == [], "its round is confirmed: it waits as usual"
    assert "confirmed" not in leader.fetches(2)


def test_who_asks_before_any_voter_is_informed_shares_the_round(leader: Leader) -> None:
    assert [leader.run("confirm") for _ in range(3)] == ["round 1"] * 3
    leader.fetches(2)
    assert leader.run("confirm").startswith("round 2"), "voter 2 was informed before"
    second = leader.fetches(2)
    assert CONFIRMED in second
    assert "confirmed round 2" not in second
    assert answered(second) == [], "the second round is too soon"
    assert answered(leader.run("sleep 4")) == [102]
    assert "confirmed round 2" in leader.fetches(2)


def test_a_response_with_records_tells_as_well(leader: Leader) -> None:
    leader.fetches(2)
    assert answered(leader.run("append 1")) == [101]
    leader.run("confirm")
    first = leader.fetch(7, replica=2, offset=2, high_watermark=1)
    assert CONFIRMED not in first
    assert CONFIRMED in leader.fetch(8, replica=2, offset=2, high_watermark=2)


def test_observers_are_not_asked(leader: Leader) -> None:
    leader.fetch(7, replica=101, offset=1, high_watermark=1)
    assert answered(leader.run("confirm")) == []
    for request_id in (8, 9):
        assert "confirmed" not in leader.fetch(request_id, replica=102, offset=1, high_watermark=1)


@pytest.mark.parametrize(
    ("voters", "is_alone"),
    [
        pytest.param([voter_node(1)], True, id="the-only-voter"),
        pytest.param([voter_node(1), voter_node(2)], False, id="one-of-two"),
        pytest.param([voter_node(2)], False, id="one-that-is-removed"),
        pytest.param([VoterNode(replica_key(1, 1), {}, 0, 1)], False, id="a-former-disk-of-the-only-voter"),
        pytest.param([], False, id="none"),
    ],
)
def test_the_only_voter_has_nobody_to_ask(voters: list[VoterNode], is_alone: bool) -> None:
    leader = states.Leader(
        1,
        local_key=replica_key(1),
        leader_endpoints={},
        epoch_start_offset=0,
        voters=VoterSet([voter_node(1), voter_node(2)]),
        granting_voter_ids=[1, 2],
        deadline_ms=0,
    )
    assert not leader.is_only_voter
    leader.set_voters(VoterSet(voters))
    assert leader.is_only_voter == is_alone
