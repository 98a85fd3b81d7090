"""Remembers since when this replica makes no progress, and which lines were written."""

from __future__ import annotations

from kraftctl.raft.spoken_reasons import SpokenReasons
from kraftctl.raft.states import NEVER_MS


class ProgressWatch:
    """The state from which `progress` decides.

    `last_ms`: when a leader last responded, or this node last led with a majority; at first its start.
    `wins_count`: how often it was elected since then, `elections_count` how often a candidate.
    """

    def __init__(self) -> None:
        self.check_at_ms = NEVER_MS
        self.standing_at_ms = NEVER_MS
        self.last_ms = 0
        self.wins_count = 0
        self.elections_count = 0
        self.is_stalled = False
        """Whether a line has said that there is no progress."""
        self.has_progressed = False
        """Whether there was any since the start."""
        self.reasons = SpokenReasons()
        self.standing = SpokenReasons()
        self.faults = SpokenReasons()

    def check_at(self, at_ms: int) -> None:
        self.check_at_ms = at_ms

    def stand_at(self, at_ms: int) -> None:
        self.standing_at_ms = at_ms

    def was_progressing(self, at_ms: int) -> None:
        self.last_ms = max(self.last_ms, at_ms)

    def elected(self) -> None:
        self.wins_count += 1

    def became_candidate(self) -> None:
        self.elections_count += 1

    def stalls(self) -> None:
        self.is_stalled = True

    def progresses(self, now_ms: int) -> None:
        """Notes progress, which ends a standstill."""
        self.last_ms = now_ms
        self.has_progressed = True
        self.wins_count = 0
        self.elections_count = 0
        self.is_stalled = False
        self.check_at_ms = NEVER_MS
        self.reasons.clear()

    def next_deadline_ms(self) -> int:
        return min(self.check_at_ms, self.standing_at_ms)
