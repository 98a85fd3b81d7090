"""Writes why a replica makes no progress: after a grace, when the reason changes, and then rarely.

Progress is to lead with a commit in this very epoch, or to follow a leader that responds. An election, or
the restart of one controller after the other, takes less than the grace. `progress_reasons` finds the
reason.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO, WARN
from kraftctl.raft.high_watermark import UNKNOWN_OFFSET
from kraftctl.raft.progress_reasons import reason, standing_reason
from kraftctl.raft.progress_states import STARTED
from kraftctl.raft.spoken_reasons import INTERVAL_MS
from kraftctl.raft.states import NEVER_MS, Candidate, EpochState, Follower, Leader, Prospective

ELECTIONS_IN_GRACE: Final = 3
"""After its fetch timeout a voter wins within two election timeouts, unless votes are split."""


def start_watching(core: RaftCore) -> None:
    """Starts when the process does: no leader is known."""
    core.progress.was_progressing(core.now_ms)
    suspect(core)


def state_changed(core: RaftCore, old: EpochState, new: EpochState) -> None:
    """Notes a change of state, with which this replica may have lost its leader, or its followers."""
    watch = core.progress
    if isinstance(old, Leader) and old.high_watermark != UNKNOWN_OFFSET:
        watch.was_progressing(core.now_ms)
    elif isinstance(old, Follower) and old.has_fetched_from_leader:
        watch.was_progressing(old.last_response_ms)
    _measure_election(core, old, new)
    if isinstance(new, Leader):
        watch.elected()
    elif isinstance(new, Candidate):
        watch.became_candidate()
    suspect(core)


def _measure_election(core: RaftCore, old: EpochState, new: EpochState) -> None:
    if isinstance(old, Leader):
        core.commit_latency.lost()
    if isinstance(new, (Candidate, Prospective)):
        core.election_latency.begin(core.now_ms)
    elif isinstance(new, (Follower, Leader)):
        core.election_latency.end(core.now_ms)


def suspect(core: RaftCore) -> None:
    """Schedules a check after the grace, which has no effect if there is progress before."""
    watch = core.progress
    if watch.check_at_ms == NEVER_MS and not core.shutting_down:
        watch.check_at(max(core.now_ms, _last_progress_ms(core) + grace_ms(core)))


def progressed(core: RaftCore) -> None:
    """Notes that the leader responds, or more is committed. This is cheap in the usual case."""
    watch = core.progress
    if watch.check_at_ms != NEVER_MS:
        if watch.is_stalled:
            _say_it_is_over(core)
        watch.progresses(core.now_ms)
    if core.config.auto_join or core.is_voter():
        watch.stand_at(NEVER_MS)
    elif watch.standing_at_ms == NEVER_MS:
        watch.stand_at(core.now_ms + grace_ms(core))


def check_progress(core: RaftCore) -> None:
    """Checks the progress when a deadline has come."""
    watch = core.progress
    if core.shutting_down:
        watch.check_at(NEVER_MS)
        watch.stand_at(NEVER_MS)
    if watch.check_at_ms <= core.now_ms:
        _check(core)
    if watch.standing_at_ms <= core.now_ms:
        _check_standing(core)


def why_no_progress(core: RaftCore, now_ms: int) -> str | None:
    """Returns the line about a replica that makes no progress: after the grace, and from its start until it
    first does. Before the grace has passed, it blames nothing.
    """
    if _is_progressing(core, now_ms):
        return None
    lasts_ms = now_ms - _last_progress_ms(core)
    if lasts_ms >= grace_ms(core):
        return reason(core, lasts_ms / 1000).line
    if core.progress.has_progressed:
        return None
    return STARTED.format(own=core.key, seconds=f"{lasts_ms / 1000:.1f}", grace=grace_ms(core) / 1000)


def _check(core: RaftCore) -> None:
    watch = core.progress
    if _is_progressing(core, core.now_ms):
        progressed(core)
        return
    due_ms = _last_progress_ms(core) + grace_ms(core)
    if core.now_ms < due_ms:
        watch.check_at(due_ms)
        return
    poll_ms = core.config.election_timeout_ms
    found = reason(core, (core.now_ms - _last_progress_ms(core)) / 1000)
    lasts_ms = poll_ms if watch.is_stalled else 0
    if watch.reasons.is_due(found.key, core.now_ms, lasts_ms=lasts_ms):
        core.notice(WARN, found.line)
    watch.stalls()
    watch.check_at(core.now_ms + max(1, poll_ms))


def _check_standing(core: RaftCore) -> None:
    watch = core.progress
    found = standing_reason(core)
    if found is None:
        watch.stand_at(NEVER_MS)
        return
    watch.stand_at(core.now_ms + INTERVAL_MS)
    if watch.standing.is_due(found.key, core.now_ms):
        core.notice(WARN, found.line)


def _say_it_is_over(core: RaftCore) -> None:
    watch, state = core.progress, core.state
    seconds = (core.now_ms - watch.last_ms) / 1000
    who = "This node leads" if isinstance(state, Leader) else f"Leader {state.leader_id} answers"
    core.notice(
        INFO,
        f"{who} in epoch {state.epoch}: controller {core.key.id} makes progress again, after {seconds:.1f} s"
        f" and {watch.elections_count} elections in which it was a candidate",
    )


def _is_progressing(core: RaftCore, now_ms: int) -> bool:
    state = core.state
    if isinstance(state, Leader):
        return state.high_watermark != UNKNOWN_OFFSET
    if not isinstance(state, Follower) or not state.has_fetched_from_leader:
        return False
    return state.download is not None or now_ms - state.last_response_ms < core.config.fetch_timeout_ms


def _last_progress_ms(core: RaftCore) -> int:
    state, last_ms = core.state, core.progress.last_ms
    if isinstance(state, Follower) and state.has_fetched_from_leader:
        return max(last_ms, state.last_response_ms)
    return last_ms


def grace_ms(core: RaftCore) -> int:
    """Returns how long an election, or the restart of a controller, may take."""
    return core.config.fetch_timeout_ms + ELECTIONS_IN_GRACE * core.config.election_timeout_ms
