"""KIP-595: what every answer of its leader means to a follower, whether it is of use or not."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import Halt
from kraftctl.raft.states import Follower


def still_in_touch(core: RaftCore, state: Follower, *, usable: bool) -> None:
    """The leader lives. What is of no use again and again is asked for at growing intervals.

    They stay below the fetch timeout: the leader must not miss this voter, nor this voter its leader.
    """
    state.has_fetched_from_leader = True
    state.last_answer_ms = core.now_ms
    state.deadline_ms = core.fetch_deadline_ms()
    if usable:
        state.useless_answers = 0
        state.retry_at_ms = 0
        return
    pause_ms = min(core.config.retry_backoff_ms << state.useless_answers, core.config.fetch_timeout_ms // 2)
    state.useless_answers = min(state.useless_answers + 1, 16)
    state.retry_at_ms = core.now_ms + pause_ms


def contradict(core: RaftCore, what_the_leader_wants: str) -> None:
    """The leader lacks what is committed. Either way out loses data: a person has to look at both logs."""
    committed = max(core.high_watermark, core.log.start_offset)
    core.emit(
        Halt(
            f"The leader {core.state.leader_id} of epoch {core.state.epoch} {what_the_leader_wants}, but here"
            f" everything up to offset {committed} is known to be committed. One of the two has"
            " lost metadata. Next step: do not restart this node (it would truncate its log, for the high"
            " watermark is not on disk) but copy its metadata directory; stop the leader as well, compare"
            " both logs (kraftctl dump), and keep the one that has the committed records. The other node"
            " has to be removed from the quorum, formatted with a new directory id and added again."
        )
    )
