"""Writes lines about a fault of one other controller, whether this quorum has a leader or not."""

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
    """Notes a fault. Its line is written once it lasts for an election timeout, then more and more rarely.

    An address may lead elsewhere for a moment: a container has moved, and the name servers do not know yet.
    """
    if lasts_ms is None:
        lasts_ms = core.config.election_timeout_ms
    if core.progress.faults.is_due(f"{state.name} {key}", core.now_ms, lasts_ms=lasts_ms):
        fields["own"] = str(core.key)
        core.notice(WARN, state.line(fields))


def end_faults(core: RaftCore, key: str) -> bool:
    """Ends all faults with this key. Returns whether a line said that one had begun."""
    spoken = False
    for state in STATES:
        if state.kind == PEER and core.progress.faults.end(f"{state.name} {key}"):
            spoken = True
    return spoken
