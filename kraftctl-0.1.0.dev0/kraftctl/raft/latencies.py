"""The durations of commits and elections since they were last taken, as Kafka's raft-metrics have them."""

from __future__ import annotations

from typing import Final

NOT_PENDING: Final = -1


class Latency:
    """Durations since the last `take`."""

    def __init__(self) -> None:
        self._count = 0
        self._total_ms = 0
        self._max_ms = 0

    def note(self, duration_ms: int) -> None:
        self._count += 1
        self._total_ms += duration_ms
        self._max_ms = max(self._max_ms, duration_ms)

    def take(self) -> tuple[int, int, int]:
        """Returns count, sum and maximum since the last call."""
        taken = self._count, self._total_ms, self._max_ms
        self._count = self._total_ms = self._max_ms = 0
        return taken


class CommitLatency(Latency):
    """Measures one append after the other: while one is measured, others are not."""

    def __init__(self) -> None:
        super().__init__()
        self._end_offset = NOT_PENDING
        self._since_ms = 0

    def appended(self, end_offset: int, now_ms: int) -> None:
        """Begins to measure, unless an earlier append is not committed."""
        if self._end_offset == NOT_PENDING:
            self._end_offset = end_offset
            self._since_ms = now_ms

    def committed(self, high_watermark: int, now_ms: int) -> None:
        if self._end_offset != NOT_PENDING and self._end_offset <= high_watermark:
            self._end_offset = NOT_PENDING
            self.note(now_ms - self._since_ms)

    def lost(self) -> None:
        """Forgets an append of a leader that leads no more."""
        self._end_offset = NOT_PENDING


class ElectionLatency(Latency):
    """Measures from the first election of a replica without a leader to the leader."""

    def __init__(self) -> None:
        super().__init__()
        self._since_ms = NOT_PENDING

    def begin(self, now_ms: int) -> None:
        if self._since_ms == NOT_PENDING:
            self._since_ms = now_ms

    def end(self, now_ms: int) -> None:
        if self._since_ms != NOT_PENDING:
            self.note(now_ms - self._since_ms)
            self._since_ms = NOT_PENDING
