"""Controllers that run only while they are measured. What they use is read from the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final

from kraftctl.dev.nodes import Controller
from kraftctl.dev.polling import await_result
from tests.bench.compare.figures import Figures
from tests.bench.compare.load_loop import Window
from tests.bench.compare.load_process import LoadProcess
from tests.bench.compare.scripts import Script
from tests.bench.measure import processor_time_s, resident_bytes_of
from tests.support.processes.mixed_quorum import have_caught_up, leader_of

SETTLED_SECONDS_MAX: Final = 60.0
POLL_S: Final = 0.02


class Running:
    """One controller, or the voters of a quorum, whose leader all requests go to.

    Formatted and started when it is entered. Suspended by `pause`: others have the machine alone.
    """

    def __init__(self, controllers: Sequence[Controller]) -> None:
        self.controllers = controllers
        self.controller = controllers[0]
        """The leader, as `settle` has found it."""

    @property
    def port(self) -> int:
        return self.controller.port

    def __enter__(self) -> Running:
        for controller in self.controllers:
            controller.format()
            controller.start(wait=False)
        for controller in self.controllers:
            controller.await_ready()
        self.settle()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def settle(self) -> None:
        """Waits until a quorum has a leader that all others have caught up with."""
        if len(self.controllers) > 1:
            self.controller = await_result(
                self._settled_leader, "a leader and its followers", SETTLED_SECONDS_MAX, POLL_S
            )

    def _settled_leader(self) -> Controller | None:
        return leader_of(self.controllers) if have_caught_up(self.controllers) else None

    def kill(self) -> None:
        for controller in self.controllers:
            controller.kill()

    def pause(self) -> None:
        for controller in self.controllers:
            controller.pause()

    def resume(self) -> None:
        for controller in self.controllers:
            controller.resume()

    def processor_s(self) -> float:
        """Of all of them."""
        return sum(processor_time_s(pid) for pid in self._pids())

    def resident_bytes(self) -> int:
        """Of all of them."""
        return sum(resident_bytes_of(pid) for pid in self._pids())

    def _pids(self) -> list[int]:
        return [each.process.pid for each in self.controllers if each.process is not None]

    def load(self, scripts: Sequence[Script]) -> LoadProcess:
        """A load generator for this controller, to be entered."""
        return LoadProcess(self.port, scripts)

    def measured(self, run: Callable[[], Window], per_operation: int = 1) -> Figures:
        """What `run` costs; an operation of it counts as `per_operation`: partitions of a request."""
        before_s = self.processor_s()
        window = run()
        used_s = self.processor_s() - before_s
        count = window.operations * per_operation
        figures = {
            "per_s": count / window.seconds,
            "processor_us": 1e6 * used_s / count,
            "p50_ms": window.p50_ms,
            "cores": used_s / window.seconds,
            "load_us": 1e6 * window.processor_s / count,
        }
        # A percentile needs as many values as it has parts.
        if window.operations >= 100:
            figures["p99_ms"] = window.p99_ms
        if window.operations >= 1_000:
            figures["p999_ms"] = window.p999_ms
        return figures
