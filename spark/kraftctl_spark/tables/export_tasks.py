"""What a worker does: fetch a range of the log, decode it, write its files. Nothing passes through the JVM.

A task is a function of its own fields, whoever runs it and how often: same range, same rows. Only the driver
gives its files their names, so an attempt that nobody waits for any more does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.log.log_range import LogRange
from kraftctl_spark.log.log_reader import LogChangedError
from kraftctl_spark.rows.collector import collector_paused
from kraftctl_spark.rows.log_rows import rows_of_range
from kraftctl_spark.rows.metadata_rows import MetadataRows
from kraftctl_spark.rows.redaction import redact
from kraftctl_spark.rows.tables import RowCounts, encode_tables
from kraftctl_spark.rows.transactions import Marker, OffsetRange, mark_aborted, markers_of
from kraftctl_spark.tables.durable import Hook, no_hook
from kraftctl_spark.tables.table_files import RangeWriter, StagedFile, range_name

SNAPSHOT_PREFIX = "snapshot-"


@dataclass(frozen=True)
class TaskSettings:
    """What all tasks of an export share. Pickled, so no secrets and no open files."""

    output: Path
    location: LogLocation
    cluster_id: str
    include_secrets: bool = False
    hook: Hook = no_hook


@dataclass(frozen=True)
class ExportTask:
    """A range to read and write."""

    range: LogRange
    aborted: tuple[OffsetRange, ...] = ()
    """What of the range is known to have been aborted."""

    @property
    def name(self) -> str:
        return (SNAPSHOT_PREFIX if self.range.snapshot else "") + range_name(
            self.range.start, self.range.end - 1
        )


@dataclass(frozen=True)
class TaskReport:
    """What came of a task."""

    task: ExportTask
    files: tuple[StagedFile, ...]
    counts: dict[str, int]
    epoch: int
    """Of the last record."""
    timestamp_ms: int
    """Of the last record."""
    markers: tuple[Marker, ...]
    missing: tuple[int, ...] = field(default=())


def run_task(settings: TaskSettings, task: ExportTask) -> TaskReport:
    """Writes the files of a task. May be run again at any time."""
    reader = settings.location.open(settings.cluster_id)
    try:
        return write_range(settings, task, rows_of_range(reader, task.range))
    finally:
        reader.close()


@collector_paused()
def write_range(settings: TaskSettings, task: ExportTask, chunks: Iterator[MetadataRows]) -> TaskReport:
    """The files of `chunks`; LogChangedError if these are not the whole range of the task."""
    counts = RowCounts()
    markers: list[Marker] = []
    epoch, timestamp_ms = task.range.epoch, 0
    with RangeWriter(settings.output, task.name, settings.hook) as writer:
        for rows in chunks:
            mark_aborted(rows, task.aborted)
            markers += markers_of(rows)
            if not settings.include_secrets:
                redact(rows)
            counts.add(rows)
            epoch, timestamp_ms = rows.epochs[-1], rows.timestamps_ms[-1]
            writer.add(encode_tables(rows))
        missing = _missing(task.range, counts.records)
        files = writer.finish()
    if task.range.snapshot:
        epoch = task.range.epoch
    return TaskReport(
        task=task,
        files=tuple(files),
        counts=counts.to_dict(),
        epoch=epoch,
        timestamp_ms=timestamp_ms,
        markers=tuple(markers),
        missing=missing,
    )


def _missing(wanted: LogRange, records: int) -> tuple[int, ...]:
    """Only a log's very first record may be out of reach, see `QuorumObserver.read`."""
    lacking = 0 if wanted.snapshot else wanted.end - wanted.start - records
    if lacking == 0:
        return ()
    if lacking == 1 and wanted.start == 0:
        return (0,)
    raise LogChangedError(f"offsets {wanted.start} to {wanted.end - 1} came as {records} records")
