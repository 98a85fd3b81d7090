"""VoterHistory: what is in force at every offset that the log and its snapshots can still have (KIP-853)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.voter_history import VoterHistory
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from tests.support.raft_names import voter_node
from tests.support.simulator.quorum import StartQuorum

END_OFFSET = 40

OFFSETS = st.lists(st.integers(-1, END_OFFSET - 1), unique=True, max_size=8).map(sorted)


def voters_of(offset: int) -> VoterSet:
    """A different set for each offset."""
    return VoterSet([voter_node(1), voter_node(offset + 10)])


def history_of(voter_offsets: list[int], version_offsets: list[int]) -> VoterHistory:
    """Each entry of it is different."""
    return VoterHistory(
        VoterSet([voter_node(1)]),
        [(offset, voters_of(offset)) for offset in voter_offsets],
        [(offset, offset + 2) for offset in version_offsets],
    )


@given(OFFSETS, OFFSETS, st.integers(0, END_OFFSET))
def test_what_is_forgotten_is_in_force_nowhere_from_the_start_of_the_log_on(
    voter_offsets: list[int], version_offsets: list[int], start_offset: int
) -> None:
    whole = history_of(voter_offsets, version_offsets)
    history = history_of(voter_offsets, version_offsets)
    history.start_at(start_offset)
    assert (history.current, history.last_offset()) == (whole.current, whole.last_offset())
    assert history.kraft_version() == whole.kraft_version()
    for offset in range(start_offset, END_OFFSET + 1):
        assert history.voters_at(offset) == whole.voters_at(offset)
        assert history.kraft_version_at(offset) == whole.kraft_version_at(offset)
    assert len([offset for offset, _ in history.voters if offset < start_offset]) <= 1
    assert len([offset for offset, _ in history.kraft_versions if offset < start_offset]) <= 1
    for end_offset in range(END_OFFSET, start_offset - 1, -1):
        history.truncate_to(end_offset)
        whole.truncate_to(end_offset)
        assert (history.current, history.last_offset()) == (whole.current, whole.last_offset())


def test_a_quorum_whose_voters_change_for_ever_remembers_what_its_log_has(start_quorum: StartQuorum) -> None:
    """Each change is in the log; snapshots take their place."""
    quorum = start_quorum(5, [1, 2, 3])
    leader = quorum.led()
    changing = quorum.followers()[0].node_id
    for _ in range(6):
        for question in (quorum.remove_voter, quorum.add_voter):
            asked = question(changing)
            quorum.run_for(3_000)
            assert asked.error == Errors.NONE
        assert quorum.led() is leader
        quorum.take_snapshot(leader)
        start_offset = leader.raft.log_start_offset
        for process in quorum.running():
            offsets = [offset for offset, _ in process.raft._core.history.voters]
            if process.raft.log_start_offset == start_offset:
                assert len([offset for offset in offsets if offset < start_offset]) == 1
        assert leader.raft.voter_set.voter_ids() == [1, 2, 3]
