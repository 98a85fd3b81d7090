"""A controller that runs only while it is measured. What it uses is read from the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from kraftctl.dev.nodes import Controller
from tests.bench.compare.figures import Figures
from tests.bench.compare.load_loop import Window
from tests.bench.compare.load_process import LoadProcess
from tests.bench.compare.scripts import Script
from tests.bench.measure import processor_time_s, resident_bytes_of


class Running:
    """Formatted and started when it is entered. Suspended by `pause`: others have the machine alone."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller

    @property
    def port(self) -> int:
        return self.controller.port

    @property
    def pid(self) -> int:
        assert self.controller.process is not None
        return self.controller.process.pid

    def __enter__(self) -> Running:
        self.controller.format()
        self.controller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.controller.kill()

    def pause(self) -> None:
        self.controller.pause()

    def resume(self) -> None:
        self.controller.resume()

    def processor_s(self) -> float:
        return processor_time_s(self.pid)

    def resident_bytes(self) -> int:
        return resident_bytes_of(self.pid)

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
