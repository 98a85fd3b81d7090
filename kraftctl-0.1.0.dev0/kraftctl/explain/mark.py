"""Mark: the record that set a state, by its offset and the time of its batch."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

DAY_MS = 86_400_000
SECONDS_MAX = 600
MINUTES_MAX = 120
"""Ages up to these numbers are in seconds, and in minutes; longer ones in hours."""


@dataclass(frozen=True)
class Mark:
    """The place in the log; the time is a Unix time on the clock of the controller that wrote the batch."""

    offset: int
    timestamp_ms: int
    is_latest_possible: bool = False
    """Whether a snapshot has the state, so that it is of that time or earlier."""


def since_text(mark: Mark | None, now_ms: int, *, with_age: bool) -> str:
    """Returns ` since 00:04:22 (83 s)`, or the offset in place of the age; empty without a mark."""
    if mark is None:
        return ""
    time = time_text(mark.timestamp_ms, now_ms)
    if mark.is_latest_possible:
        return f" since {time} or earlier (snapshot up to offset {mark.offset})"
    detail = age_text(now_ms - mark.timestamp_ms) if with_age else f"offset {mark.offset}"
    return f" since {time} ({detail})"


def time_text(at_ms: int, now_ms: int) -> str:
    """Returns the time in UTC, with the date unless it is within a day of now."""
    time = datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC)
    return f"{time:%H:%M:%S}" if abs(now_ms - at_ms) < DAY_MS else f"{time:%Y-%m-%d %H:%M:%S}"


def age_text(age_ms: int) -> str:
    """Returns an age such as `9.0 s`, `83 s`, `25 min` or `49 h`."""
    seconds = max(0, age_ms) / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds <= SECONDS_MAX:
        return f"{seconds:.0f} s"
    if seconds <= MINUTES_MAX * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
