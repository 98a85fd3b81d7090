"""The only module that reads a clock: everything else is given the time."""

from __future__ import annotations

import time
from typing import Final

from mypy_extensions import mypyc_attr

MONOTONIC_NS: Final = time.monotonic_ns
TIME_NS: Final = time.time_ns
"""Looked up in the module once: each event reads clocks four times."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Clock:
    """Monotonic time for deadlines, wall time for what is written down."""

    def now_ms(self) -> int:
        """Milliseconds that never go backwards, from an arbitrary zero."""
        return MONOTONIC_NS() // 1_000_000

    def now_ns(self) -> int:
        """The same in nanoseconds, to measure durations; called several times per event."""
        return MONOTONIC_NS()

    def thread_ns(self) -> int:
        """Processor time of this thread in nanoseconds, to measure what something costs."""
        return time.thread_time_ns()

    def wall_ms(self) -> int:
        """Unix time, which may jump: only for timestamps of records and expiry dates."""
        return TIME_NS() // 1_000_000


TURN_SECONDS: Final = 0.0001
"""How long a thread that computes sleeps for others to run: long enough for the loop to wake up."""


def let_others_run() -> None:
    """Compiled code keeps the interpreter's lock until it sleeps."""
    time.sleep(TURN_SECONDS)
