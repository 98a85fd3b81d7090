"""A sequence of rare events, as a generator that yields what it waits for: a moment, a state, or time.

While one runs, nothing else is injected. One that waits in vain is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kraftctl.node.events import NodeEffect
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.virtual_time import Timer
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.disks.disks import fast_disk
from tests.support.simulator.faults.plan import DISK_SPEEDS, Plan

CALM_DELAY_US_MAX = 1_000
LOOK_US = 5_000


@dataclass(frozen=True)
class BeforeEffect:
    """Just before a process carries out an effect. Only the network may be changed there: no process ends."""

    is_it: Callable[[ControllerProcess, NodeEffect], bool]
    within_ms: int = 10_000


@dataclass(frozen=True)
class Until:
    """Looked at every few milliseconds."""

    is_so: Callable[[], bool]
    within_ms: int = 10_000


@dataclass(frozen=True)
class Pause:
    duration_us: int


Wait = BeforeEffect | Until | Pause


class Sequence:
    """`run` one at a time, on good links and disks; afterwards all are as in `plan`. After `stop` none is run
    any more.
    """

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        self._plan = plan
        self._cluster = cluster
        self._waits: Iterator[Wait] | None = None
        self._wait: Wait | None = None
        self._timer: Timer | None = None
        self._stopped = False

    @property
    def is_running(self) -> bool:
        return self._waits is not None

    def run(self, waits: Iterator[Wait]) -> bool:
        """Returns whether it was begun."""
        if self._stopped:
            return False
        self._waits = waits
        self.join()
        self._cluster.wire.faults = LinkFaults(delay_us_max=CALM_DELAY_US_MAX)
        for process in self._cluster.processes.values():
            process.on_effect = self._saw
            process.forge = None
            process.set_speed(fast_disk)
            if process.lifetime is not None:
                process.watched.planned_end = None
        self._next()
        return True

    def join(self) -> None:
        self._cluster.wire.cut.clear()

    def stop(self) -> None:
        """All faults end."""
        self._stopped = True
        self._end()

    def _next(self) -> None:
        waits = self._waits
        assert waits is not None
        self._cancel()
        wait = next(waits, None)
        if wait is None:
            self._end()
            return
        self._wait = wait
        time = self._cluster.time
        if isinstance(wait, Pause):
            self._timer = time.call_after(wait.duration_us, self._next)
        elif isinstance(wait, BeforeEffect):
            self._timer = time.call_after(wait.within_ms * 1000, self._end)
        else:
            self._look(time.now_us + wait.within_ms * 1000)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._wait = None

    def _look(self, until_us: int) -> None:
        assert isinstance(self._wait, Until)
        time = self._cluster.time
        if self._wait.is_so():
            self._next()
        elif time.now_us >= until_us:
            self._end()
        else:
            self._timer = time.call_after(LOOK_US, lambda: self._look(until_us))

    def _saw(self, process: ControllerProcess, effect: NodeEffect) -> None:
        if isinstance(self._wait, BeforeEffect) and self._wait.is_it(process, effect):
            self._next()

    def _end(self) -> None:
        self._cancel()
        if self._waits is None:
            return
        self._waits = None
        self.join()
        self._cluster.wire.faults = self._plan.links
        for node_id, process in self._cluster.processes.items():
            process.on_effect = None
            process.set_speed(DISK_SPEEDS[self._plan.disks[node_id]])
