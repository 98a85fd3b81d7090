"""CPython's interpreter lock, which the event loop shares with the threads that wait for the disk.

A thread that has waited for the lock for a switch interval demands it. The loop then hands it over and stands
still until the kernel runs that thread, which took 75 to 180 ms beside other busy processes. Without a demand
the loop releases the lock between two turns and continues; the thread takes it when it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SWITCH_INTERVAL_SECONDS: Final = 0.1
"""The interval is longer than any turn of the loop. Threads that compute for long sleep in between, see
`let_others_run`."""


@contextmanager
def released_between_turns() -> Iterator[None]:
    """Keeps all threads from demanding the lock in the middle of a turn of the loop."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
