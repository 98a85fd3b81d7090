"""Notes across several looks at a quorum whether its leader commits what it has written."""

from __future__ import annotations

from typing import Final

STALLED_MS: Final = 2_000
"""Records that are not committed for this long wait for a disk or for voters: Kafka's leaders write a
NoOpRecord each half second (metadata.max.idle.interval.ms), and commit it within milliseconds.
"""

LOOK_AGAIN_MS: Final = 200
"""A leader that has records which are not committed is asked again after this time."""


class CommitWatch:
    """Compares the end of a leader's log with later high watermarks of the same epoch."""

    def __init__(self) -> None:
        self._epoch = -1
        self._end_offset = -1
        self._since_ms = 0
        self.is_open = False
        """Whether it takes another look to say if the leader commits."""

    def note(self, *, epoch: int, end_offset: int, high_watermark: int, now_ms: int) -> int:
        """Returns for how many ms records are known not to be committed, 0 at the first look at them.

        `end_offset` is that of the leader's log. A high watermark that moves does not suffice: it has to
        reach the end that was seen.
        """
        is_first = epoch != self._epoch
        if is_first or high_watermark >= self._end_offset:
            self._epoch, self._end_offset, self._since_ms = epoch, end_offset, now_ms
            self.is_open = is_first and end_offset > high_watermark
            return 0
        uncommitted_ms = now_ms - self._since_ms
        self.is_open = uncommitted_ms < STALLED_MS
        return uncommitted_ms
