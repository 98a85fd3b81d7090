"""A few log lines per interval are written, and the others counted: clients must not fill the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable


class RateLimitedLog:
    """A few lines per interval, then a count of the rest: clients must not be able to fill the disk."""

    def __init__(
        self,
        target: logging.Logger,
        now: Callable[[], float],
        lines_max: int = 10,
        interval_seconds: float = 10.0,
    ) -> None:
        self._target = target
        self._now = now
        self._lines_max = lines_max
        self._interval_seconds = interval_seconds
        self._interval_start = now()
        self._lines = 0
        self.suppressed_count = 0

    def has_room(self) -> bool:
        """Whether a line would be written now, rather than counted."""
        is_over = self._now() - self._interval_start >= self._interval_seconds
        return is_over or self._lines < self._lines_max

    def warning(self, message: str, *arguments: object) -> None:
        """Log a WARNING, or only count it."""
        self.log(logging.WARNING, message, *arguments)

    def log(self, level: int, message: str, *arguments: object) -> None:
        """Log, or only count."""
        now = self._now()
        if now - self._interval_start >= self._interval_seconds:
            self._interval_start = now
            self._lines = 0
            if self.suppressed_count:
                self._target.log(level, "%d similar lines were left out", self.suppressed_count)
                self.suppressed_count = 0
        if self._lines >= self._lines_max:
            self.suppressed_count += 1
            return
        self._lines += 1
        self._target.log(level, message, *arguments)
