"""Limits the long work of a turn of the loop, so that heartbeats wait for milliseconds only.

A turn takes TURN_NS when the loop has little else to do. When other work fills the loop, there are few
turns, and each takes SHARE_PERCENT of the time that has passed since the last one, at most TURN_NS_MAX. So
work that needs `w` seconds of computing is done after about 7 * w seconds, if a round of the loop takes less
than 130 ms.

A snapshot yields to the slices of requests: while they have turns, it has its share without the minimum. But
it keeps old values of whatever changes, so it has to end: once it has taken DEADLINE_NS, each of its turns
takes TURN_NS_MAX. When a round of the loop takes `r` seconds otherwise, it is complete 30 s + w * (1 + r /
20 ms) after its beginning at the latest: 2 million partitions, 4 s of computing, take less than 64 s beside
requests that take 150 ms each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.controller.results.moment import UNITS
from kraftctl.node.events import TakeTurn
from kraftctl.node.long_work import SNAPSHOT

TURN_NS: Final = 4_000_000
"""The target of a turn of long work: heartbeats wait for this at most."""

TURN_NS_MAX: Final = 20_000_000
"""The limit of a turn, when turns are rare: two kinds of work and a request fit into 50 ms."""

YIELDING_TURN_NS: Final = 500_000
"""The minimum for a snapshot beside slices of requests."""

SHARE_PERCENT: Final = 15
"""The share of the time since the last turn of the same kind."""

DEADLINE_NS: Final = 30_000_000_000
"""Metadata of 2 million partitions may take this long beside requests, see above."""

UNITS_MIN: Final = 16
"""A turn has at least one unit, however slow the last one was."""

UNITS_MAX: Final = 20_000

GROWTH_MAX: Final = 2
"""A turn has at most this many times the units of the one before: units differ in what they cost."""


class _Work:
    """One kind of work: when it and its last turns began and ended, and how many units took how long."""

    def __init__(self, now_ns: int) -> None:
        self.since_ns = now_ns
        self.began_ns: int | None = None
        self.ended_ns = now_ns
        self.units = UNITS
        self.spent = UNITS
        self.took_ns = TURN_NS

    def begin_anew(self, now_ns: int) -> None:
        """Begins other work, no faster than at first: its units may cost more than the last ones."""
        self.since_ns = now_ns
        if self.spent * TURN_NS > UNITS * self.took_ns:
            self.units = self.spent = UNITS
            self.took_ns = TURN_NS


class TurnPace:
    """Measures the time of units per kind of work. `now_ns` is a monotonic clock."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._works: dict[str, _Work] = {}

    def begin(self, work: str) -> int:
        """Starts a turn of this kind. Returns how many units it has."""
        now_ns = self._now_ns()
        state = self._work(work, now_ns)
        fitting = state.spent * self._turn_ns(work, state, now_ns) // state.took_ns
        state.units = max(UNITS_MIN, min(fitting, state.units * GROWTH_MAX, UNITS_MAX))
        state.began_ns = now_ns
        return state.units

    def asked(self, effect: TakeTurn) -> None:
        """Notes that the turn before is over, if there was one, and there is more to do."""
        now_ns = self._now_ns()
        state = self._work(effect.work, now_ns)
        if effect.spent == 0:
            state.begin_anew(now_ns)
        elif state.began_ns is not None:
            state.spent = effect.spent
            state.took_ns = max(1, now_ns - state.began_ns)
        state.began_ns = None
        state.ended_ns = now_ns

    def _work(self, work: str, now_ns: int) -> _Work:
        if work not in self._works:
            self._works[work] = _Work(now_ns)
        return self._works[work]

    def _turn_ns(self, work: str, state: _Work, now_ns: int) -> int:
        """Returns how long the next turn may take."""
        minimum_ns = TURN_NS
        if work == SNAPSHOT:
            if now_ns - state.since_ns >= DEADLINE_NS:
                return TURN_NS_MAX
            if any(other.ended_ns > state.ended_ns for other in self._works.values()):
                minimum_ns = YIELDING_TURN_NS
        share_ns = (now_ns - state.ended_ns) * SHARE_PERCENT // 100
        return min(max(minimum_ns, share_ns), TURN_NS_MAX)
