"""Limits log lines that other replicas can cause at any rate: a few per interval, then their number."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.states import NEVER_MS

LINES_PER_INTERVAL_MAX: Final = 20
"""The number of lines of one kind. An election takes a voter fewer than ten."""

INTERVAL_MS: Final = 10_000


class LimitedNotices:
    """Limits the lines of one kind. The times may not go back."""

    def __init__(self) -> None:
        self._interval_start_ms = -NEVER_MS
        self._lines = 0
        self._left_out = 0

    def take_left_out(self, now_ms: int) -> int:
        """Returns how many lines were left out in the interval that is over; 0 while it is not."""
        if now_ms - self._interval_start_ms < INTERVAL_MS:
            return 0
        left_out = self._left_out
        self._interval_start_ms = now_ms
        self._lines = self._left_out = 0
        return left_out

    def admits(self) -> bool:
        """Returns whether there is room for one more line; otherwise it is counted."""
        if self._lines >= LINES_PER_INTERVAL_MAX:
            self._left_out += 1
            return False
        self._lines += 1
        return True
