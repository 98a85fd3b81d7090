"""The time at which a handler or a task runs, and the offset at which its records begin."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

UNITS: Final = 500
"""Before it is known how long they take: some milliseconds of work, also for an interpreter."""


@mypyc_attr(acyclic=True, free_list_len=1)
class Moment:
    """The time and the position of one request or task.

    `now_ms` is monotonic and serves deadlines and sessions. `wall_ms` is the wall clock, which may step: it
    serves only data that leaves the process, such as timestamps of tokens. `next_offset` is the offset that
    the first record of the result gets in the log. `units` is how much long work may be done now: about so
    many records made, or partitions looked at.
    """

    def __init__(self, now_ms: int, wall_ms: int, next_offset: int, units: int = UNITS) -> None:
        self.now_ms = now_ms
        self.wall_ms = wall_ms
        self.next_offset = next_offset
        self.units = units
