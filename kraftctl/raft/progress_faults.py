"""Lines about what is wrong with one other controller, whether this quorum has a leader or not."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import WARN
from kraftctl.raft.progress_states import PEER, STATES, ProgressState


def fault(
    core: RaftCore,
    state: ProgressState,
    key: str,
    fields: dict[str, str],
    lasts_ms: int | None = None,
) -> None:
    """It is met once more. Its line is written when it lasts for an election timeout, then ever more rarely.

    An address may lead elsewhere for a moment: a container has moved, and the name servers do not know yet.
    """
    if lasts_ms is None:
        lasts_ms = core.config.election_timeout_ms
    if core.progress.faults.is_due(f"{state.name} {key}", core.now_ms, lasts_ms=lasts_ms):
        fields["own"] = str(core.key)
        core.notice(WARN, state.line(fields))


def end_faults(core: RaftCore, key: str) -> bool:
    """All with this key are over. Whether a line said that one had begun."""
    spoken = False
    for state in STATES:
        if state.kind == PEER and core.progress.faults.end(f"{state.name} {key}"):
            spoken = True
    return spoken
