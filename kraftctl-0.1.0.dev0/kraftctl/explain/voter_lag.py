"""Decides by its fetches, as the leader has them, whether a voter lags."""

from __future__ import annotations

from kraftctl.explain.commit_watch import STALLED_MS
from kraftctl.explain.evidence import LeaderView, ReplicaFetch
from kraftctl.explain.mark import age_text

LAGS_MS = 3_000
"""A voter that was not caught up for this long lags: it fetches each half second."""


def lags(replica: ReplicaFetch) -> bool:
    """Returns whether a voter that is not the leader is behind it."""
    return replica.caught_up_age_ms is None or replica.caught_up_age_ms > LAGS_MS


def lag_text(quorum: LeaderView, replica: ReplicaFetch) -> str:
    """Returns when it was caught up, and how far its log goes."""
    since = "was never caught up under this leader"
    if replica.caught_up_age_ms is not None:
        since = f"was caught up {age_text(replica.caught_up_age_ms)} ago"
    return (
        f"voter {replica.replica_id} {since}: its log ends at {replica.log_end_offset},"
        f" {quorum.high_watermark} is committed"
    )


def stall_text(leader_id: int, *, end_offset: int, high_watermark: int, uncommitted_ms: int) -> str | None:
    """Returns that the leader commits nothing of what it has written; None while it does."""
    if uncommitted_ms < STALLED_MS:
        return None
    return (
        f"the log of the leader {leader_id} ends at {end_offset}, {high_watermark} is committed,"
        f" and the rest was not within {age_text(uncommitted_ms)}"
    )


def step_for_lag(controller_id: int) -> str:
    """Returns where to look for the cause."""
    return f"see the log of controller {controller_id}, and the disk of its metadata.log.dir"
