"""A plan that still fails, with as few faults as can be found in a given time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.support.simulator.faults.plan import SETTINGS, Plan


@dataclass(frozen=True)
class Reduced:
    """Which happenings are kept, by index (None: all), and which settings are calm."""

    kept: tuple[int, ...] | None
    calm: frozenset[str]

    def of(self, plan: Plan) -> Plan:
        """The smaller plan."""
        smaller = plan if self.kept is None else plan.with_only(self.kept)
        return smaller.calmed(self.calm)


def shrink(plan: Plan, fails: Callable[[Plan], bool], seconds_max: float) -> Reduced:
    """Calms the settings, then leaves out halves, quarters, ... of the happenings, as long as it `fails`."""
    until = time.monotonic() + seconds_max
    kept = tuple(range(len(plan.happenings)))
    calm: frozenset[str] = frozenset()

    def still_fails(fewer: tuple[int, ...], calmer: frozenset[str]) -> bool:
        return time.monotonic() < until and fails(Reduced(fewer, calmer).of(plan))

    for name in SETTINGS:
        if still_fails(kept, calm | {name}):
            calm |= {name}
    size = (len(kept) + 1) // 2
    while size > 0 and time.monotonic() < until:
        start = 0
        while start < len(kept):
            fewer = kept[:start] + kept[start + size :]
            if still_fails(fewer, calm):
                kept = fewer
            else:
                start += size
        size //= 2
    return Reduced(kept, calm)
