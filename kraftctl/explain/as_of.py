"""Says up to where a log was read, and of when that is: what follows may be known to others already."""

from __future__ import annotations

import datetime

from kraftctl.explain.replayed_log import ReplayedLog


def as_of_text(log: ReplayedLog) -> str:
    """Returns the line below an explanation of a log that may have ended long ago."""
    if log.end_offset == 0:
        return "As of the begin of the log: nothing in it is known to be committed"
    time = datetime.datetime.fromtimestamp(log.last_timestamp_ms / 1000, datetime.UTC)
    line = f"As of {time:%Y-%m-%d %H:%M:%S} UTC, the newest record, before offset {log.end_offset}; read from"
    if log.snapshot is None:
        return f"{line} the log"
    snapshot = f"the snapshot {log.snapshot.offset}-{log.snapshot.epoch}"
    has_more = log.end_offset > log.snapshot.offset
    return f"{line} {snapshot} and the log behind it" if has_more else f"{line} {snapshot}"


def as_of_json(log: ReplayedLog) -> dict[str, object]:
    """Returns the same for programs."""
    snapshot = log.snapshot
    return {
        "last_record_ms": log.last_timestamp_ms if log.end_offset else None,
        "snapshot": None if snapshot is None else {"end_offset": snapshot.offset, "epoch": snapshot.epoch},
    }
