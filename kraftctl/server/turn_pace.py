"""How much long work the node does in one turn of the loop, so that a turn takes some milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.controller.moment import UNITS
from kraftctl.node.events import TakeTurn

TURN_NS: Final = 4_000_000
"""What a turn of long work should take: heartbeats wait so long at most."""

UNITS_MIN: Final = 16
"""A turn does something, however slow the last one was."""

UNITS_MAX: Final = 20_000

GROWTH_MAX: Final = 2
"""A turn has at most so many times the units of the one before: units differ in what they cost."""


class TurnPace:
    """Units per kind of work, measured. `now_ns` is a monotonic clock."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._units: dict[str, int] = {}
        self._began_ns: dict[str, int] = {}

    def begin(self, work: str) -> int:
        """A turn of this kind begins now. Returns how many units it has."""
        self._began_ns[work] = self._now_ns()
        return self._units.get(work, UNITS)

    def asked(self, effect: TakeTurn) -> None:
        """The turn before is over, if there was one, and there is more to do."""
        began_ns = self._began_ns.pop(effect.work, None)
        if began_ns is None or effect.spent == 0:
            return
        took_ns = max(1, self._now_ns() - began_ns)
        fitting = effect.spent * TURN_NS // took_ns
        units = self._units.get(effect.work, UNITS)
        self._units[effect.work] = max(UNITS_MIN, min(fitting, units * GROWTH_MAX, UNITS_MAX))
