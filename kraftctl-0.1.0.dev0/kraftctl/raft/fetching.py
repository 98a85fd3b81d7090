"""The handling of every response of a follower's leader, usable or not (KIP-595)."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import Halt
from kraftctl.raft.progress import progressed
from kraftctl.raft.states import Follower


def leader_answered(core: RaftCore, state: Follower, *, usable: bool) -> None:
    """Restarts the fetch timer. After unusable responses the intervals between fetches grow.

    They stay below the fetch timeout: neither check-quorum nor that timeout may end the leader.
    """
    state.leader_answered(core.now_ms, core.fetch_deadline_ms())
    core.loading.leader_answered()
    progressed(core)
    if usable:
        state.response_was_usable()
    else:
        state.response_was_useless(
            core.now_ms,
            backoff_ms=core.config.retry_backoff_ms,
            backoff_ms_max=core.config.fetch_timeout_ms // 2,
        )


def contradict(core: RaftCore, what_the_leader_wants: str) -> None:
    """Halts because the leader lacks committed records. Any choice could lose data: a person must
    compare the logs. The log here may be the last one that has them, so no restart ends the halt.
    """
    committed = core.committed_floor()
    core.emit(
        Halt(
            f"The leader {core.state.leader_id} of epoch {core.state.epoch} {what_the_leader_wants}, but on"
            f" controller {core.key} everything up to offset {committed} is known to be committed. One of the"
            " two has lost metadata. This node keeps its log, and does not start again before an operator has"
            " decided. Do not start an earlier release of kraftctl or Kafka's controller on this directory:"
            " they do not know the halt and truncate the log. Next step: stop the leader as well, copy"
            " metadata.log.dir of every voter, and compare the logs (kraftctl dump log ...); then kraftctl"
            " end-halt --help (docs/operations/halted.md).",
            is_lasting=True,
        )
    )
