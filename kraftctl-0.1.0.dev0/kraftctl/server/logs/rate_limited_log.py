"""Writes a few log lines per interval, and counts the others: clients must not fill the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable


class LineLimit:
    """The number of lines that may be written in an interval, and that were."""

    def __init__(self, lines_max: int, interval_seconds: float, now_seconds: float) -> None:
        self.lines_max = lines_max
        self.interval_seconds = interval_seconds
        self.interval_start = now_seconds
        self.lines = 0
        self.suppressed_count = 0


class RateLimitedLog:
    """Writes a few lines per interval under `target`, then only counts them."""

    def __init__(
        self,
        target: logging.Logger,
        now: Callable[[], float],
        lines_max: int = 10,
        interval_seconds: float = 10.0,
    ) -> None:
        self._target = target
        self._now = now
        self._limit = LineLimit(lines_max, interval_seconds, now())

    def beside(self, target: logging.Logger) -> RateLimitedLog:
        """Returns one whose lines are under `target` and count towards the same limit."""
        other = RateLimitedLog(target, self._now)
        other._limit = self._limit
        return other

    @property
    def suppressed_count(self) -> int:
        """Returns how many lines were left out since the last that said so."""
        return self._limit.suppressed_count

    def has_room(self) -> bool:
        """Returns whether a line would be written now, rather than counted."""
        limit = self._limit
        is_over = self._now() - limit.interval_start >= limit.interval_seconds
        return is_over or limit.lines < limit.lines_max

    def warning(self, message: str, *arguments: object) -> None:
        """Logs a WARNING, or only counts it."""
        self.log(logging.WARNING, message, *arguments)

    def log(self, level: int, message: str, *arguments: object) -> None:
        """Logs a line, or only counts it."""
        limit = self._limit
        now = self._now()
        if now - limit.interval_start >= limit.interval_seconds:
            limit.interval_start = now
            limit.lines = 0
            if limit.suppressed_count:
                self._target.log(level, "%d similar lines were left out", limit.suppressed_count)
                limit.suppressed_count = 0
        if limit.lines >= limit.lines_max:
            limit.suppressed_count += 1
            return
        limit.lines += 1
        self._target.log(level, message, *arguments)
