"""The only module that reads a clock: everything else is told the time."""

from __future__ import annotations

import time


class Clock:
    """Monotonic time for deadlines, wall time for what is written down."""

    def now_ms(self) -> int:
        """Milliseconds that never go backwards; their zero means nothing."""
        return time.monotonic_ns() // 1_000_000

    now_ns = staticmethod(time.monotonic_ns)
    """The same in nanoseconds, to measure how long something took: several times for each event."""

    def wall_ms(self) -> int:
        """Unix time; may jump. Only ever data: timestamps of records, expiry dates."""
        return time.time_ns() // 1_000_000
