"""Decides when CPython's cyclic collector runs, and which objects it skips.

With CPython's defaults it took 13 % of the processor time of AlterPartition for 20 x 100 partitions, in runs
of up to 64 ms, and found nothing: counting references frees what a request makes.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

T = TypeVar("T")

YOUNG_OBJECTS_MAX: Final = 25_000
"""The collector runs after this many new objects, beyond those that were freed, in 1 to 2 ms. Requests
in progress make fewer: 20 AlterPartitions with 100 partitions each make 6,000."""

THRESHOLDS: Final = (YOUNG_OBJECTS_MAX, 5, 5)
"""The arguments of gc.set_threshold: an older generation is collected after that many runs of the
younger one."""

LONG_PAUSE_NS: Final = 2_000_000
"""After a longer run, the remaining objects are frozen: they are alive, and the next run skips them. So
runs stay short while the image grows."""

FROZEN_OBJECTS_MIN: Final = 20_000
"""The collector visits fewer new objects in 2 ms."""


class Collector:
    """Controls the collector, and measures each run."""

    def __init__(self, thread_ns: Callable[[], int]) -> None:
        """Takes a clock of processor time: a process that waits for a processor freezes nothing."""
        self.pauses: Counter[int] = Counter()
        """The number of runs that took at least 0, 1, 2, 4, 8 ... us, by that bound."""
        self.longest_ns = 0
        self._thread_ns = thread_ns
        self._since_ns = 0

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Controls the collector of the whole process."""
        before = gc.get_threshold()
        gc.set_threshold(*THRESHOLDS)
        gc.callbacks.append(self._observe)
        freeze()  # modules and classes
        try:
            yield
        finally:
            gc.callbacks.remove(self._observe)
            gc.set_threshold(*before)

    def __str__(self) -> str:
        """Returns the number of runs, their duration, and the histogram."""
        runs = ", ".join(f"{count} from {least_us} us" for least_us, count in sorted(self.pauses.items()))
        return (
            f"{self.pauses.total()} runs, 99.9 % below {self._bound_us(0.999)} us, the longest"
            f" {self.longest_ns / 1e6:.1f} ms: {runs or 'none'}"
        )

    def _bound_us(self, fraction: float) -> int:
        """Returns the bound that this fraction of the runs stays below; 0 without runs."""
        left = self.pauses.total() * fraction
        bound_us = 0
        for least_us, count in sorted(self.pauses.items()):
            if left > 0:
                bound_us = max(1, 2 * least_us)
                left -= count
        return bound_us

    def _observe(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._since_ns = self._thread_ns()
            return
        pause_ns = self._thread_ns() - self._since_ns
        self.pauses[1 << (pause_ns // 1000).bit_length() >> 1] += 1
        self.longest_ns = max(self.longest_ns, pause_ns)
        if pause_ns > LONG_PAUSE_NS:
            freeze()


def freeze() -> None:
    """Freezes all present objects, which live as long as the process: the collector skips them.

    Counting references still frees what is not part of a cycle.
    """
    gc.freeze()


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collector for code that makes no cycles.

    A run would keep the interpreter's lock while it visits all that was made so far, and once more in the
    end, for 100 ms after a million lists.
    """
    gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > FROZEN_OBJECTS_MIN:
            gc.freeze()
        gc.enable()
