"""The clocks of a simulated machine: monotonic and wall, which drift and jump apart."""

from __future__ import annotations

from tests.support.simulator.cluster.virtual_time import VirtualTime

WALL_START_MS = 1_700_000_000_000


class SimulatedClock:
    """The monotonic clock starts at `offset_us` and is up to a tenth too fast or too slow: `percent`."""

    def __init__(
        self, time: VirtualTime, *, percent: int = 100, offset_us: int = 0, wall_ahead_ms: int = 0
    ) -> None:
        self._time = time
        self.percent = percent
        self.offset_us = offset_us
        self.wall_ahead_ms = wall_ahead_ms

    def now_us(self) -> int:
        return self.offset_us + self._time.now_us * self.percent // 100

    def now_ns(self) -> int:
        return self.now_us() * 1000

    def now_ms(self) -> int:
        return (self.offset_us + self._time.now_us * self.percent // 100) // 1000

    def wall_ms(self) -> int:
        return WALL_START_MS + self.wall_ahead_ms + self._time.now_us // 1000

    def real_us(self, local_us: int) -> int:
        """How long it takes until this clock has advanced by `local_us`."""
        return -(-local_us * 100 // self.percent)
