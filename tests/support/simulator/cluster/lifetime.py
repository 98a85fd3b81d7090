"""One life of a simulated process: what is scheduled for it ends with it, and waits while it is frozen."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.simulator.cluster.virtual_time import Timer, VirtualTime


class Lifetime:
    """From the start of a process to its end. A frozen process (SIGSTOP, a long pause of its machine) does
    nothing; what happens to it meanwhile happens in the same order when it is resumed.
    """

    def __init__(self, time: VirtualTime) -> None:
        self.time = time
        self.ended = False
        self.frozen = False
        self._happened: list[Callable[[], None]] = []

    def after(self, delay_us: int, call: Callable[[], None]) -> Timer:
        """`call`, unless the process has ended by then."""
        return self.time.call_after(delay_us, lambda: self.run(call))

    def run(self, call: Callable[[], None]) -> None:
        """`call` now; after the pause if it is frozen; never if it has ended."""
        if self.ended:
            return
        if self.frozen:
            self._happened.append(call)
        else:
            call()

    def freeze(self) -> None:
        self.frozen = True

    def resume(self) -> None:
        self.frozen = False
        while self._happened and not self.frozen and not self.ended:
            self._happened.pop(0)()

    def end(self) -> None:
        self.ended = True
        self._happened.clear()
