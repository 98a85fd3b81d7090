"""Counts durations in buckets, for histograms and quantiles: a few comparisons for each."""

from __future__ import annotations

from typing import Final

BOUNDS_NS: Final = (
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
)
"""The upper bounds of the buckets, inclusive; the last bucket has no bound."""

_BOUNDS_NS: Final = list(BOUNDS_NS)
"""A list, because compiled code makes a new tuple of all bounds whenever it reads a constant one."""


class Durations:
    """Durations since the start. `counts` has one entry more than BOUNDS_NS."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_NS) + 1)
        self.total_ns = 0

    def note(self, duration_ns: int) -> None:
        bounds_ns, index = _BOUNDS_NS, 0
        while index < len(bounds_ns) and duration_ns > bounds_ns[index]:
            index += 1
        self.counts[index] += 1
        self.total_ns += duration_ns

    @property
    def count(self) -> int:
        return sum(self.counts)
