"""KIP-853: no change of the voters is written after which those that work are no majority."""

from __future__ import annotations

import pytest

from kraftctl.raft.forced_removal import FORCE_TAG, is_forced
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_set import VoterSet
from kraftctl.raft.working_majority import missing_voters
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from tests.support.raft_names import directory_id, voter_node
from tests.support.simulator.quorum import Question, Quorum, StartQuorum

WITHIN_MS = 2_000
"""controller.quorum.fetch.timeout.ms"""
NOW_MS = 50_000
END = 100
LEADER_ID = 1


def leader_of(voter_ids: list[int]) -> Leader:
    return Leader(
        5,
        local_key=ReplicaKey(LEADER_ID, directory_id(LEADER_ID)),
        leader_endpoints={"CONTROLLER": ("host", 1)},
        epoch_start_offset=10,
        voters=VoterSet([voter_node(voter_id) for voter_id in voter_ids]),
        granting_voter_ids=voter_ids,
        deadline_ms=0,
    )


def fetched(leader: Leader, key: ReplicaKey, *fetches: tuple[int, int, int]) -> None:
    """Each with its time, the offset, and where the log of the leader ended."""
    for at_ms, offset, end in fetches:
        leader.replica(key, at_ms).update(
            fetch_offset=offset, leader_end_offset=end, now_ms=at_ms, wall_ms=at_ms
        )


RECENTLY = NOW_MS - WITHIN_MS + 1


@pytest.mark.parametrize(
    ("fetches", "works"),
    [
        pytest.param([], False, id="never-fetched"),
        pytest.param([(RECENTLY, END, END)], True, id="has-everything"),
        pytest.param([(RECENTLY - 1, END, END)], False, id="a-fetch-timeout-ago"),
        pytest.param([(RECENTLY, END - 1, END)], False, id="one-record-behind"),
        pytest.param([(RECENTLY, END - 1, END), (NOW_MS, END, END + 5)], True, id="one-fetch-behind"),
        pytest.param([(RECENTLY - 1, END - 1, END), (NOW_MS, END, END + 5)], False, id="a-slow-fetch-behind"),
        pytest.param([(NOW_MS - 500, 7, END), (NOW_MS, 50, END)], False, id="catches-up"),
        pytest.param([(1_000, END, END), (NOW_MS, END, END + 1)], False, id="stood-still-and-returns"),
        pytest.param([(0, END, END)], False, id="long-ago"),
    ],
)
@pytest.mark.parametrize("is_voter", [True, False], ids=["voter", "to-be-added"])
def test_who_works(fetches: list[tuple[int, int, int]], works: bool, is_voter: bool) -> None:
    leader = leader_of([1, 2] if is_voter else [1])
    key = ReplicaKey(2, directory_id(2))
    fetched(leader, key, *fetches)
    voters = VoterSet([voter_node(1), voter_node(2)])
    missing = missing_voters(leader, voters, now_ms=NOW_MS, within_ms=WITHIN_MS)
    assert missing == ([] if works else [key])


def test_another_directory_of_a_voter_does_not_work_for_it() -> None:
    leader = leader_of([1, 2])
    fetched(leader, ReplicaKey(2, directory_id(2, 1)), (NOW_MS, END, END))
    voters = VoterSet([voter_node(1), voter_node(2)])
    assert missing_voters(leader, voters, now_ms=NOW_MS, within_ms=WITHIN_MS) == [
        ReplicaKey(2, directory_id(2))
    ]


def silence(quorum: Quorum, node_ids: tuple[int, ...]) -> None:
    for node_id in node_ids:
        quorum.processes[node_id].kill()
    quorum.run_for(WITHIN_MS + 300)


def outcome(quorum: Quorum, question: Question) -> Errors:
    quorum.run_for(2_500)
    return question.error


def others_than_the_leader(quorum: Quorum) -> list[int]:
    leader_id = quorum.led().node_id
    return [voter_id for voter_id in quorum.voter_ids if voter_id != leader_id]


@pytest.mark.prevents("removed-into-a-minority")
@pytest.mark.parametrize("voter_count", [3, 5])
def test_removals(voter_count: int, start_quorum: StartQuorum) -> None:
    """Of the leader, of each that runs and each that is down; for each number that may be down."""
    quorum = start_quorum(31, list(range(1, voter_count + 1)))
    leader = quorum.led()
    others = others_than_the_leader(quorum)
    for down_count in range((voter_count - 1) // 2 + 1):
        down = others[:down_count]
        if down:
            silence(quorum, (down[-1],))
        for voter_id in [leader.node_id, *others]:
            working = voter_count - down_count - (voter_id not in down)
            if 2 * working > voter_count - 1:
                continue
            removal = quorum.remove_voter(voter_id)
            assert removal.error == Errors.REQUEST_TIMED_OUT, (down, voter_id)
            message = getattr(removal.answer, "error_message")  # noqa: B009
            missed = message.partition("Missing: ")[2]
            for key in [node.key for node in leader.raft.voter_set.nodes.values() if node.key.id in down]:
                assert f"{key} (silent for " in missed
            assert missed.count("silent for") == down_count
    assert len(leader.raft.voter_set) == voter_count
    assert outcome(quorum, quorum.remove_voter(others[0])) == Errors.NONE, "it is missing anyway"
    quorum.append(leader, 1)
    quorum.run_for(500)
    assert leader.raft.high_watermark == leader.raft.end_offset


@pytest.mark.parametrize(
    ("fields", "forced"),
    [
        (None, False),
        ([(FORCE_TAG, b"\x01")], True),
        ([(0, b"\x01")], False),
        ([(FORCE_TAG, b"\x00")], False),
        ([(FORCE_TAG, b"")], False),
        ([(3, b"x"), (FORCE_TAG, b"\x01"), (FORCE_TAG + 1, b"")], True),
    ],
)
def test_which_requests_force_a_removal(fields: list[tuple[int, bytes]] | None, forced: bool) -> None:
    """As received. A field of a later release of Kafka forces nothing."""
    request = RemoveRaftVoterRequest(voter_id=1)
    request.unknown_tagged_fields = fields
    assert is_forced(RemoveRaftVoterRequest.decode(request.encode(0), 0)) is forced


def test_a_forced_removal_is_written(start_quorum: StartQuorum) -> None:
    """The quorum stops until the missing voter returns."""
    quorum = start_quorum(32, [1, 2, 3])
    leader = quorum.led()
    running, down = others_than_the_leader(quorum)
    silence(quorum, (down,))
    removal = quorum.remove_voter(running, forced=True)
    quorum.run_for(6_000)
    assert removal.error == Errors.REQUEST_TIMED_OUT
    assert quorum.leader() is None
    assert any("forces it" in line and "do not repeat" in line for line in quorum.lines(leader.node_id))
    quorum.end_well()
    assert quorum.led().raft.voter_set.voter_ids() == sorted({leader.node_id, down})


@pytest.mark.prevents("removed-into-a-minority")
def test_a_voter_that_does_not_work_is_not_added_where_it_is_needed(start_quorum: StartQuorum) -> None:
    """Its disk stalls: it answers, and does not fetch. Of two voters both would be needed; of four, three."""
    quorum = start_quorum(33, [1], [11])
    leader = quorum.led()
    quorum.processes[11].hold_flushes()
    quorum.append(leader, 1)
    quorum.run_for(WITHIN_MS + 1_000)
    addition = quorum.add_voter(11)
    assert outcome(quorum, addition) == Errors.REQUEST_TIMED_OUT
    assert "Missing: 11:" in getattr(addition.answer, "error_message")  # noqa: B009
    quorum.append(leader, 1)
    quorum.run_for(100)
    assert leader.raft.high_watermark == leader.raft.end_offset
