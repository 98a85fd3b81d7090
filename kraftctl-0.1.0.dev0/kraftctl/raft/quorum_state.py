"""KIP-595, KIP-853, KIP-996: the legal transitions between states, and the one function that takes them."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import DEBUG, INFO, LeaderChanged, LeadershipLost, WriteQuorumState
from kraftctl.raft.election_state import NOT_VOTED, ElectionState
from kraftctl.raft.progress import state_changed
from kraftctl.raft.replica_key import NO_DIRECTORY_ID
from kraftctl.raft.states import EpochState, Leader, Resigned

SAME: Final = "the same epoch"
SAME_OR_HIGHER: Final = "the same or a higher epoch"
NEXT: Final = "the next epoch"
HIGHER: Final = "a higher epoch"

LEGAL_TRANSITIONS: Final[dict[tuple[str, str], str]] = {
    # The same epoch again: a vote was given.
    ("Unattached", "Unattached"): SAME_OR_HIGHER,
    ("Unattached", "Follower"): SAME_OR_HIGHER,
    ("Unattached", "Prospective"): SAME,
    # The same epoch again: more endpoints of the leader were learnt.
    ("Follower", "Follower"): SAME_OR_HIGHER,
    ("Follower", "Unattached"): HIGHER,
    ("Follower", "Prospective"): SAME,
    ("Prospective", "Prospective"): SAME,
    ("Prospective", "Unattached"): SAME_OR_HIGHER,
    ("Prospective", "Follower"): SAME_OR_HIGHER,
    ("Prospective", "Candidate"): NEXT,
    ("Candidate", "Unattached"): HIGHER,
    ("Candidate", "Follower"): SAME_OR_HIGHER,
    ("Candidate", "Prospective"): SAME,
    ("Candidate", "Leader"): SAME,
    # A leader never follows, nor leads again, in the epoch that it has led (KAFKA-10527).
    ("Leader", "Unattached"): HIGHER,
    ("Leader", "Follower"): HIGHER,
    ("Leader", "Resigned"): SAME,
    ("Resigned", "Unattached"): HIGHER,
    ("Resigned", "Follower"): HIGHER,
    ("Resigned", "Prospective"): SAME,
}


def is_legal(old: EpochState, new: EpochState) -> bool:
    rule = LEGAL_TRANSITIONS.get((old.name, new.name))
    if rule is None:
        return False
    if rule == SAME:
        return new.epoch == old.epoch
    if rule == NEXT:
        return new.epoch == old.epoch + 1
    if rule == HIGHER:
        return new.epoch > old.epoch
    return new.epoch >= old.epoch


def start_as(core: RaftCore, state: EpochState) -> None:
    """Sets the first state of this process; every other one comes by `transition`."""
    core.state = state


def transition(core: RaftCore, new: EpochState) -> None:
    """Take a legal transition. The quorum-state file is written before any other effect of it."""
    old = core.state
    assert is_legal(old, new), f"illegal transition from {old!r} to {new!r}"
    level = DEBUG if core.progress.is_stalled else INFO  # one line says that there is no leader
    core.limited_notice("transitions", level, f"Transition to {new!r} from {old!r}")
    if new.epoch > old.epoch:
        core.epoch_pace.raised(core.now_ms)
    core.state = new
    state_changed(core, old, new)
    core.peers.reset()
    write_quorum_state(core)
    if isinstance(old, Leader):
        core.emit(LeadershipLost(old.epoch))
    if new.epoch != old.epoch or new.leader_id != old.leader_id:
        core.emit(LeaderChanged(new.leader_id, new.epoch))


def write_quorum_state(core: RaftCore) -> None:
    """Write the quorum-state unless the file has it already. Prospective changes nothing in it."""
    election = election_of(core)
    stored = core.stored_election
    if stored is not None and _is_same(stored, election):
        return
    core.stored_election = election
    core.emit(WriteQuorumState(election))


def election_of(core: RaftCore) -> ElectionState:
    """Returns the content of the file. A resigned leader stays its epoch's leader there: it was elected."""
    state = core.state
    dynamic = core.history.kraft_version() >= 1
    vote = None if isinstance(state, Leader | Resigned) else state.voted_key
    return ElectionState(
        epoch=state.epoch,
        leader_id=state.leader_id,
        voted_id=NOT_VOTED if vote is None else vote.id,
        voted_directory_id=NO_DIRECTORY_ID if vote is None or not dynamic else vote.directory_id,
        current_voters=[] if dynamic else core.history.current.voter_ids(),
        data_version=1 if dynamic else 0,
    )


def _is_same(one: ElectionState, other: ElectionState) -> bool:
    return (
        one.epoch == other.epoch
        and one.leader_id == other.leader_id
        and one.voted_id == other.voted_id
        and one.voted_directory_id == other.voted_directory_id
        and one.data_version == other.data_version
    )
