"""Reads the clocks, as the only module: everything else is given the time."""

from __future__ import annotations

import time
from typing import Final

from mypy_extensions import mypyc_attr

MONOTONIC_NS: Final = time.monotonic_ns
TIME_NS: Final = time.time_ns
"""The function is looked up once, because each event reads clocks four times."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Clock:
    """Monotonic time for deadlines, wall time for what is written down."""

    def now_ms(self) -> int:
        """Returns milliseconds that never go backwards, from an arbitrary zero."""
        return MONOTONIC_NS() // 1_000_000

    def now_ns(self) -> int:
        """Returns the same in nanoseconds, to measure durations; called several times per event."""
        return MONOTONIC_NS()

    def thread_ns(self) -> int:
        """Returns processor time of this thread in nanoseconds, to measure costs."""
        return time.thread_time_ns()

    def wall_ms(self) -> int:
        """Returns Unix time, which may jump: only for timestamps of records and expiry dates."""
        return TIME_NS() // 1_000_000


TURN_SECONDS: Final = 0.0001
"""A thread that computes sleeps this long for others to run, so that the loop can wake up."""


def let_others_run() -> None:
    """Sleeps, because compiled code keeps the interpreter's lock until then."""
    time.sleep(TURN_SECONDS)
