"""The interface of an engine, and the export that it runs."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

from kraftctl_observer.log_reader import LogReader
from kraftctl_spark.engines.batch_schedule import BatchSchedule
from kraftctl_spark.tables.export_tasks import TaskSettings
from kraftctl_spark.tables.exporter import Committed, Exporter, TaskRunner, no_note
from kraftctl_spark.tables.manifest import Position
from kraftctl_spark.tables.output import Output

IDLE_WAIT_S = 60.0
"""An orderly stop waits this long for the current batch."""


def no_failure() -> None:
    """Does nothing, where nothing monitors."""


@dataclass(frozen=True)
class Export:
    """An export, apart from what runs its tasks."""

    output: Output
    settings: TaskSettings
    reader: LogReader
    schedule: BatchSchedule
    after: Sequence[Callable[[], None]] = ()
    """The work behind each batch, in this process."""
    note: Callable[[Committed], None] = no_note
    """Takes each batch that is committed."""
    worker_lost: Callable[[], None] = no_failure
    """Called when a worker has ended unexpectedly, as far as the engine sees it."""

    def exporter(self, run_tasks: TaskRunner) -> Exporter:
        return Exporter(self.output, self.settings, self.reader, run_tasks, self.note)


class Engine(Protocol):
    """Runs an export until it has caught up, fails, or is to stop."""

    def check(self, position: Position, reader: LogReader) -> None:
        """Raises ExportRefusedError if what it keeps itself does not fit to tables that end there."""
        ...

    def run(self, export: Export, stop: threading.Event) -> int:
        """Returns 0 after an orderly end, 1 when the export failed. May raise what the command handles."""
        ...


def stop_on_signals() -> threading.Event:
    """Returns an event that SIGTERM and SIGINT set, which then requests an orderly stop."""
    stop = threading.Event()

    def on_signal(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop
