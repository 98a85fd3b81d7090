"""The time at which a handler or a task runs, and the offset at which its records begin."""

from __future__ import annotations


class Moment:
    """The time and the position of one request or task.

    `now_ms` is monotonic and serves deadlines and sessions. `wall_ms` is the wall clock, which may step: it
    serves only data that leaves the process, such as timestamps of tokens. `next_offset` is the offset that
    the first record of the result gets in the log.
    """

    def __init__(self, now_ms: int, wall_ms: int, next_offset: int) -> None:
        self.now_ms = now_ms
        self.wall_ms = wall_ms
        self.next_offset = next_offset
