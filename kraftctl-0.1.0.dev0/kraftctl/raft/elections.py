"""KIP-595, KIP-996: how a replica moves between following, elections and leading.

1. A voter that misses its leader, or knows none, becomes Prospective and asks for pre-votes. Before its fetch
   timeout it does so when the leader has resigned or refuses connections (`early_elections`).
2. With a majority of them it becomes Candidate of the next epoch, votes for itself, asks for votes.
3. With a majority of those it leads: it writes LeaderChange, and knows the high watermark only when that
   is committed.
4. A replica that learns of a higher epoch, from any message, joins it.
5. A leader found in its own quorum-state file at start has resigned: its epoch is over.

A single voter takes steps 1 to 3 immediately.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.append import append_start_of_epoch
from kraftctl.raft.check_quorum import check_quorum_deadline_ms
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO, WARN, BecameLeader, Halt
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.other_quorums import begin_to_look
from kraftctl.raft.progress import start_watching
from kraftctl.raft.quorum_state import start_as, transition, write_quorum_state
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.respond_fetch import fail_parked_fetches
from kraftctl.raft.silent_voters import begin_to_watch
from kraftctl.raft.states import (
    NEVER_MS,
    Candidate,
    EpochState,
    Follower,
    Leader,
    Prospective,
    Resigned,
    Unattached,
)
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.peer_limits import EPOCH_MAX

EPOCH_USED_UP: Final = (
    "an int32 has no larger one. A damaged or forged request has raised it. Next step: restore quorum-state"
    " from a backup, or remove this voter from the quorum, format an empty directory and add it again."
)


def start(core: RaftCore) -> None:
    """Continue from the quorum-state file. A single voter becomes leader immediately."""
    start_as(core, _initial_state(core))
    if core.state.epoch > EPOCH_MAX:
        core.emit(
            Halt(f"Controller {core.key}: no election can follow epoch {core.state.epoch}: {EPOCH_USED_UP}")
        )
        return
    write_quorum_state(core)
    core.notice(INFO, f"Starting as {core.state!r} with {core.voters!r}")
    start_watching(core)
    if isinstance(core.state, Candidate):
        _continue_if_won(core)
    elif core.is_only_voter():
        become_prospective(core)


def _initial_state(core: RaftCore) -> EpochState:
    stored = core.stored_election or ElectionState(epoch=0)
    known_epoch = max(core.log.last_epoch(), core.recovering_epoch or 0)
    if stored.epoch < known_epoch:
        if core.recovering_epoch is None:  # otherwise another line has said so
            text = f"quorum-state knows epoch {stored.epoch}, this replica was in epoch {known_epoch}"
            core.notice(WARN, text)
        return Unattached(known_epoch, deadline_ms=_waiting_voter_deadline_ms(core))
    if stored.leader_id == core.key.id:
        return Resigned(
            stored.epoch,
            leader_id=core.key.id,
            leader_endpoints=core.endpoints,
            deadline_ms=core.election_deadline_ms(),
            unacked_voter_ids=_other_voter_ids(core),
            preferred_successors=[],
        )
    if stored.voted_for(core.key) and core.may_vote():
        return _candidate(core, stored.epoch)
    endpoints = core.voters.endpoints(stored.leader_id) if stored.has_leader() else {}
    if endpoints:
        return Follower(
            stored.epoch,
            leader_id=stored.leader_id,
            leader_endpoints=endpoints,
            voted_key=stored.voted_key(),
            deadline_ms=core.fetch_deadline_ms(),
            update_voter_at_ms=core.next_update_voter_ms(),
        )
    return Unattached(
        stored.epoch,
        leader_id=stored.leader_id,
        voted_key=stored.voted_key(),
        deadline_ms=_waiting_voter_deadline_ms(core),
    )


def become_unattached(core: RaftCore, epoch: int, leader_id: int = -1) -> None:
    """Join an epoch whose leader or its endpoints are unknown. A running election keeps its deadline."""
    old = core.state
    deadline_ms = _waiting_voter_deadline_ms(core)
    if deadline_ms != NEVER_MS and _keeps_deadline(core):
        deadline_ms = old.deadline_ms
    vote = old.voted_key if epoch == old.epoch else None
    transition(core, Unattached(epoch, leader_id=leader_id, voted_key=vote, deadline_ms=deadline_ms))
    fail_parked_fetches(core, Errors.NOT_LEADER_OR_FOLLOWER)


def become_follower(core: RaftCore, epoch: int, leader_id: int, endpoints: Endpoints) -> None:
    assert endpoints, f"leader {leader_id} of epoch {epoch} without endpoints"
    assert leader_id != core.key.id
    vote = core.state.voted_key if epoch == core.state.epoch else None
    transition(
        core,
        Follower(
            epoch,
            leader_id=leader_id,
            leader_endpoints=endpoints,
            voted_key=vote,
            deadline_ms=core.fetch_deadline_ms(),
            update_voter_at_ms=core.next_update_voter_ms(),
        ),
    )
    fail_parked_fetches(core, Errors.NOT_LEADER_OR_FOLLOWER)


def become_prospective(core: RaftCore) -> None:
    """Ask for pre-votes in the current epoch (KIP-996)."""
    assert core.may_vote()
    old = core.state
    if isinstance(old, Follower) and old.has_early_election() and old.download is None:
        transition(core, _early_prospective(core, old))
    else:
        transition(core, _prospective(core, old.voted_key))
    _continue_if_won(core)


def become_candidate(core: RaftCore) -> None:
    assert core.may_vote()
    transition(core, _candidate(core, core.state.epoch + 1))
    _continue_if_won(core)


def become_leader(core: RaftCore) -> None:
    """Becomes leader. The quorum-state is on disk before LeaderChange, so that no other epoch can begin
    there.
    """
    candidate = core.state
    assert isinstance(candidate, Candidate)
    assert candidate.election.is_won()
    epoch_start_offset = core.log.end_offset
    leader = Leader(
        candidate.epoch,
        local_key=core.key,
        leader_endpoints=core.endpoints,
        epoch_start_offset=epoch_start_offset,
        voters=core.voters,
        granting_voter_ids=candidate.election.granting_voter_ids(),
        deadline_ms=check_quorum_deadline_ms(core),
    )
    leader.update_local_end_offset(core.log.flushed_offset)
    known = core.voters.updated_voter_by_id(core.local_node())
    assert known is not None, "a leader votes in its own voter set"
    leader.remember_voters(known)
    if len(core.voters) > 1:
        leader.send_begin_quorum_epoch_at(core.now_ms)
    transition(core, leader)
    core.log.epochs.assign(leader.epoch, epoch_start_offset)
    append_start_of_epoch(core, leader)
    core.emit(BecameLeader(leader.epoch, epoch_start_offset))
    begin_to_look(core, leader)
    begin_to_watch(core, leader)


def resign(core: RaftCore) -> None:
    """Stop leading, and wait an election timeout so that another voter can win."""
    leader = core.leader()
    assert leader is not None
    transition(
        core,
        Resigned(
            leader.epoch,
            leader_id=leader.leader_id,
            leader_endpoints=leader.leader_endpoints,
            deadline_ms=NEVER_MS if core.shutting_down else core.election_deadline_ms(),
            unacked_voter_ids=_other_voter_ids(core),
            preferred_successors=leader.voters_by_end_offset(),
        ),
    )
    fail_parked_fetches(
        core, Errors.BROKER_NOT_AVAILABLE if core.shutting_down else Errors.NOT_LEADER_OR_FOLLOWER
    )


def record_vote(core: RaftCore, voter_id: int, granted: bool) -> None:
    """Count the response of a voter to our Vote request, real or preliminary."""
    state = core.state
    if isinstance(state, Prospective):
        state.election.record(voter_id, granted)
        if state.election.is_lost():
            end_lost_pre_election(core, state)
            return
    elif isinstance(state, Candidate):
        # A lost candidate waits its timeout out, as the winner's LeaderChange may be on its way.
        state.election.record(voter_id, granted)
    else:
        return
    _continue_if_won(core)


def add_vote(core: RaftCore, candidate: ReplicaKey) -> None:
    """Write the vote to disk. The candidate may win, so our own election timeout restarts."""
    old = core.state
    assert old.voted_key is None
    assert candidate.id != core.key.id
    if isinstance(old, Prospective):
        transition(core, _prospective(core, candidate))
    else:
        assert isinstance(old, Unattached)
        transition(
            core,
            Unattached(
                old.epoch,
                leader_id=old.leader_id,
                voted_key=candidate,
                deadline_ms=_waiting_voter_deadline_ms(core),
            ),
        )


def is_consistent_leader(core: RaftCore, epoch: int, leader_id: int) -> bool:
    """Checks that no epoch has two leaders, and no message names this node leader unless it is."""
    if leader_id == core.key.id:
        return core.leader() is not None and epoch == core.state.epoch
    return (
        epoch != core.state.epoch
        or leader_id < 0
        or not core.state.has_leader()
        or leader_id == core.state.leader_id
    )


def join_epoch(core: RaftCore, epoch: int, leader_id: int, endpoints: Endpoints) -> None:
    """A message of `epoch` (not below ours) arrived that names its leader, or -1. Must be consistent."""
    state = core.state
    if leader_id >= 0 and leader_id != core.key.id and endpoints:
        if epoch > state.epoch or not state.has_leader() or _is_better_known(core, endpoints):
            become_follower(core, epoch, leader_id, endpoints)
        elif isinstance(state, Follower) and not state.has_reached_leader:
            # The log may lack its latest address. No new state: that would put our own election off.
            state.find_leader_at(endpoints)
    elif epoch > state.epoch:
        become_unattached(core, epoch, leader_id if leader_id != core.key.id else -1)


def _continue_if_won(core: RaftCore) -> None:
    state = core.state
    if isinstance(state, Prospective) and state.election.is_won():
        if state.interrupted is not None:
            core.early_elections.won(core.now_ms, core.config.fetch_timeout_ms)
        become_candidate(core)
    elif isinstance(state, Candidate) and state.election.is_won():
        become_leader(core)


def end_lost_pre_election(core: RaftCore, state: Prospective) -> None:
    """Follow the known leader again, if there is one."""
    if state.interrupted is not None:
        state.interrupted.early_election_lost()
        transition(core, state.interrupted)
    elif state.leader_id >= 0 and state.leader_endpoints:
        become_follower(core, state.epoch, state.leader_id, state.leader_endpoints)
    else:
        become_unattached(core, state.epoch, state.leader_id)


def _is_better_known(core: RaftCore, endpoints: Endpoints) -> bool:
    return isinstance(core.state, Follower | Unattached | Prospective) and len(endpoints) > len(
        core.state.leader_endpoints
    )


def _prospective(core: RaftCore, voted_key: ReplicaKey | None) -> Prospective:
    """Returns the state in the current epoch, with an election that begins now."""
    old = core.state
    return Prospective(
        old.epoch,
        leader_id=old.leader_id,
        leader_endpoints=old.leader_endpoints,
        voted_key=voted_key,
        deadline_ms=core.election_deadline_ms(),
        election=EpochElection(core.voters, core.key.id),
    )


def _early_prospective(core: RaftCore, old: Follower) -> Prospective:
    """Returns a state with a shorter election, as the leader may be there: nothing is fetched meanwhile.

    A leader that refuses connections does not count as a voter that may respond. One that has resigned still
    votes.
    """
    election = EpochElection(core.voters, core.key.id)
    if old.leader_refuses and not old.leader_has_resigned and old.leader_id in election.votes:
        election.record(old.leader_id, False)
    deadline_ms = core.now_ms + core.config.election_timeout_ms // 2
    return Prospective(
        old.epoch,
        leader_id=old.leader_id,
        leader_endpoints=old.leader_endpoints,
        voted_key=old.voted_key,
        deadline_ms=min(deadline_ms, old.fetch_deadline_ms),
        election=election,
        interrupted=old,
    )


def _candidate(core: RaftCore, epoch: int) -> Candidate:
    return Candidate(
        epoch,
        voted_key=core.key,
        deadline_ms=core.election_deadline_ms(),
        election=EpochElection(core.voters, core.key.id),
    )


def _other_voter_ids(core: RaftCore) -> list[int]:
    return [voter_id for voter_id in core.voters.voter_ids() if voter_id != core.key.id]


def _keeps_deadline(core: RaftCore) -> bool:
    """Returns whether to keep the deadline: joining epochs must not postpone our own election
    indefinitely.
    """
    state = core.state
    if isinstance(state, Prospective):
        return not state.election.is_lost()
    return isinstance(state, Candidate | Unattached | Resigned) and state.deadline_ms != NEVER_MS


def _waiting_voter_deadline_ms(core: RaftCore) -> int:
    return core.election_deadline_ms() if core.may_vote() else NEVER_MS
