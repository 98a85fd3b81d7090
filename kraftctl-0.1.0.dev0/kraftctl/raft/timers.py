"""KIP-595, KIP-996: what happens at a deadline: elections, check-quorum, the end of long polls.

| state | its deadline | then |
|---|---|---|
| Unattached | election timeout | Prospective |
| Follower | fetch timeout, or an earlier election (EndQuorumEpoch, `early_elections`) | Prospective |
| Prospective | election timeout; half of it, if early | Follower of the known leader, else Unattached |
| Candidate | election timeout | Prospective |
| Leader | check-quorum | Resigned |
| Resigned | election timeout | Unattached in the next epoch |

A replica that may not vote never becomes Prospective; one that loads does so later (`loading_voter`).
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.elections import (
    become_prospective,
    become_unattached,
    end_lost_pre_election,
    resign,
)
from kraftctl.raft.loading_voter import lets_others_go_first
from kraftctl.raft.other_quorums import look
from kraftctl.raft.progress import check_progress
from kraftctl.raft.respond_fetch import respond_to_expired
from kraftctl.raft.silent_voters import check_voters
from kraftctl.raft.states import Candidate, Follower, Leader, Prospective, Resigned, Unattached

TRANSITIONS_PER_STEP_MAX = 8
"""A resigned single voter takes four transitions to lead again; more than these would be a loop."""


def run_timers(core: RaftCore) -> None:
    """Handles what is due at `core.now_ms`. This is cheap when nothing is."""
    if core.parked.has_expired(core.now_ms):
        respond_to_expired(core)
    transitions_left = TRANSITIONS_PER_STEP_MAX
    while core.state.deadline_ms <= core.now_ms:
        assert transitions_left > 0, f"no end of transitions in {core.state!r}"
        transitions_left -= 1
        _state_timed_out(core)
    if core.progress.next_deadline_ms() <= core.now_ms:
        check_progress(core)
    if core.other_quorums.look_at_ms <= core.now_ms:
        look(core)
    if core.voter_watch.check_at_ms <= core.now_ms:
        check_voters(core)
    if not core.has_no_peers():
        core.peers.expire(core.now_ms, core.config.retry_backoff_ms)


def next_deadline_ms(core: RaftCore) -> int:
    parked_ms = core.parked.next_deadline_ms()
    state = core.state
    deadline_ms = state.deadline_ms
    if parked_ms is not None and parked_ms < deadline_ms:
        deadline_ms = parked_ms
    progress_ms = core.progress.next_deadline_ms()
    if progress_ms < deadline_ms:
        deadline_ms = progress_ms
    if isinstance(state, Leader):
        # Not `min` of three: compiled code calls that as Python does.
        deadline_ms = min(deadline_ms, min(state.observers_due_ms, state.round_due_ms))
    if isinstance(state, Leader) and core.other_quorums.look_at_ms < deadline_ms:
        deadline_ms = core.other_quorums.look_at_ms
    if isinstance(state, Leader) and core.voter_watch.check_at_ms < deadline_ms:
        deadline_ms = core.voter_watch.check_at_ms
    change = core.voter_change
    if change is not None and change.deadline_ms < deadline_ms:
        deadline_ms = change.deadline_ms
    if core.has_no_peers():
        return deadline_ms
    peers_ms = core.peers.next_deadline_ms()
    if peers_ms is not None and peers_ms < deadline_ms:
        deadline_ms = peers_ms
    if isinstance(state, Follower) and core.now_ms < state.retry_at_ms < deadline_ms:
        deadline_ms = state.retry_at_ms
    if isinstance(state, Leader) and state.begin_quorum_deadline_ms < deadline_ms:
        deadline_ms = state.begin_quorum_deadline_ms
    return deadline_ms


def _state_timed_out(core: RaftCore) -> None:
    state = core.state
    if isinstance(state, Leader):
        core.notice(INFO, "No majority of the voters fetched lately: resigning")
        resign(core)
    elif isinstance(state, Resigned):
        # A higher epoch, or our own id would be taken for the leader's.
        become_unattached(core, state.epoch + 1)
    elif isinstance(state, Prospective):
        end_lost_pre_election(core, state)
    elif core.may_vote():
        assert isinstance(state, Unattached | Follower | Candidate)
        if not lets_others_go_first(core):
            become_prospective(core)
    else:
        state.stop_waiting()
