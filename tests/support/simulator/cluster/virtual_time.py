"""Time of a simulation: it jumps to whatever happens next. The order is that of time, then of arrival."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush


class Timer:
    """Something that will happen, unless it is cancelled."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self._call = None

    def fire(self) -> bool:
        """Let it happen. Returns whether it did."""
        call = self._call
        if call is None:
            return False
        self._call = None
        call()
        return True


class VirtualTime:
    """`now_us` counts from the start of the simulation; `happened` counts what has happened."""

    def __init__(self) -> None:
        self.now_us = 0
        self.happened = 0
        self._sequence = 0
        self._heap: list[tuple[int, int, Timer]] = []

    @property
    def now_ms(self) -> int:
        return self.now_us // 1000

    def call_at(self, at_us: int, call: Callable[[], None]) -> Timer:
        timer = Timer(call)
        self._sequence += 1
        heappush(self._heap, (at_us, self._sequence, timer))
        return timer

    def call_after(self, delay_us: int, call: Callable[[], None]) -> Timer:
        return self.call_at(self.now_us + delay_us, call)

    def run_until(self, until_us: int) -> None:
        """Everything that happens up to then, including what that causes."""
        heap = self._heap
        while heap and heap[0][0] <= until_us:
            at_us, _, timer = heappop(heap)
            self.now_us = at_us
            if timer.fire():
                self.happened += 1
        self.now_us = until_us

    def run_for(self, duration_us: int) -> None:
        self.run_until(self.now_us + duration_us)
