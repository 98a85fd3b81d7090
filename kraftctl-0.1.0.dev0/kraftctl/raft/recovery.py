"""A voter that has lost its log or its votes, but not its identity, does not vote until it has recovered.

1. It follows as an observer does, and grants no vote.
2. A leader of the last epoch it took part in, or of a later one, has everything that its former self helped
   to commit (LeaderCompleteness), and no vote of an epoch up to that one can matter any more.
3. Once all that this leader has committed is on disk here, it is a voter as before.

The leader counts what it fetches meanwhile: that is on disk. KIP-853's way is another one: a replica with a
new disk has a new directory id and is another voter.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO, NoteRecovered
from kraftctl.raft.high_watermark import UNKNOWN_OFFSET
from kraftctl.raft.states import Follower


def end_recovery_if_caught_up(core: RaftCore) -> None:
    """Ends the recovery after an event that completes it."""
    state = core.state
    if core.recovering_epoch is None or not isinstance(state, Follower):
        return
    if state.epoch < core.recovering_epoch or state.leader_high_watermark == UNKNOWN_OFFSET:
        return
    if core.log.flushed_offset < state.leader_high_watermark:
        return
    core.recovering_epoch = None
    core.emit(NoteRecovered())
    core.notice(
        INFO,
        f"Everything that leader {state.leader_id} of epoch {state.epoch} has committed, up to offset"
        f" {state.leader_high_watermark}, is here: this replica votes again",
    )
    state.restart_fetch_timer(core.fetch_deadline_ms())
