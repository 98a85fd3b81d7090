"""The engine of one machine: the same tasks in a pool of processes, without Spark and without a JVM."""

from __future__ import annotations

import logging
import threading
import time

from kraftctl_observer.log_reader import LogReader
from kraftctl_spark.engines.engine import Export
from kraftctl_spark.engines.worker_pool import StoppedInBatchError, WorkerPool
from kraftctl_spark.log.batch_end import batch_end
from kraftctl_spark.tables.exporter import checked_position
from kraftctl_spark.tables.manifest import Position

PAUSE_MIN_S = 0.1
"""Without new records, the log is asked no more often than this, whatever the interval."""

log = logging.getLogger(__name__)


class LocalEngine:
    """A loop of batches. It keeps no progress of its own: the tables say where the next one begins."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def check(self, position: Position, reader: LogReader) -> None:
        """Has nothing to check."""

    def run(self, export: Export, stop: threading.Event) -> int:
        """Returns 0 at the end; what a task raises is raised here."""
        try:
            with WorkerPool(export.settings, self._workers, stop, export.worker_lost) as pool:
                batches = _export_batches(export, pool, stop)
            log.info("stopped; %d batches", batches)
        except StoppedInBatchError as error:
            log.info("%s", error)
        return 0


def _export_batches(export: Export, pool: WorkerPool, stop: threading.Event) -> int:
    """Returns the number of batches, until `stop`, or until the target of `--available-now`."""
    reader, schedule, batches = export.reader, export.schedule, 0
    exporter = export.exporter(pool.run)
    position = checked_position(export.output, export.settings.cluster_id)
    # The planned end, which is beyond the tables while a transaction is open there.
    offset, epoch = position.offset, position.epoch
    target = reader.position(0, 0).high_watermark if schedule.available_now else None
    while not stop.is_set():
        began_s = time.monotonic()
        end = batch_end(reader, offset, epoch, offsets_max=schedule.offsets_per_trigger, target=target)
        if end.is_new:
            exporter.export_to(end.offset, end.epoch)
            for work in export.after:
                work()
            offset, epoch, batches = end.offset, end.epoch, batches + 1
        if target is None:
            pause_s = schedule.interval_s - (time.monotonic() - began_s)
            stop.wait(max(pause_s, 0.0 if end.is_new else PAUSE_MIN_S))
        elif not end.is_new:
            break
    return batches
