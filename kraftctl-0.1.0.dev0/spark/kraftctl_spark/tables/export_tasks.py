"""The work of one task: fetch a range of the log, decode it, write its files. Nothing passes through the JVM.

A task depends only on its fields, wherever and however often it runs: the same range gives the same rows.
Only the driver gives its files their names, so a late attempt changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kraftctl_observer.log_reader import LogChangedError
from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.log.log_range import OFFSETS_PER_RANGE, LogRange
from kraftctl_spark.rows.collector import collector_paused
from kraftctl_spark.rows.log_rows import rows_of_range
from kraftctl_spark.rows.metadata_rows import MetadataRows
from kraftctl_spark.rows.redaction import redact
from kraftctl_spark.rows.tables import RECORDS, RowCounts, encode_tables
from kraftctl_spark.rows.transactions import Marker, OffsetRange, mark_aborted, markers_of
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.stores.open_store import StoreLocation
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.new_fields import NewFields, new_fields_in, summed
from kraftctl_spark.tables.table_files import RangeWriter, StagedFile, range_name
from kraftctl_spark.tables.uploads import upload

SNAPSHOT_PREFIX = "snapshot-"
DIGEST_KEY_BYTES_MIN = 16
ROWS_PER_CHUNK = OFFSETS_PER_RANGE
"""A range of the log is one chunk: its rows are held until they are written anyway."""


@dataclass(frozen=True)
class TaskSettings:
    """The settings of all tasks of an export. They are pickled, so without secrets and open files."""

    output: Path
    """The directory of the tables; of a store, that of the driver, which tasks do not use."""
    location: LogLocation
    cluster_id: str
    include_secrets: bool = False
    hook: Hook = no_hook
    digest_key: Path | None = None
    """The file with the key for digests of what is redacted: each worker reads it."""
    store: StoreLocation | None = None
    """The object store of the tables; each worker has credentials of its own."""

    def key(self) -> bytes | None:
        """Returns the key; ExportRefusedError for one that is too short."""
        if self.digest_key is None:
            return None
        key = self.digest_key.read_bytes()
        if len(key) < DIGEST_KEY_BYTES_MIN:
            raise ExportRefusedError(
                f"{self.digest_key} has {len(key)} bytes: a key needs {DIGEST_KEY_BYTES_MIN} random ones"
            )
        return key


@dataclass(frozen=True)
class ExportTask:
    """A range to read and write."""

    range: LogRange
    aborted: tuple[OffsetRange, ...] = ()
    """The parts of the range that are known to be aborted."""

    @property
    def name(self) -> str:
        return (SNAPSHOT_PREFIX if self.range.snapshot else "") + range_name(
            self.range.start, self.range.end - 1
        )


@dataclass(frozen=True)
class TaskReport:
    """The result of a task."""

    task: ExportTask
    files: tuple[StagedFile, ...]
    counts: dict[str, int]
    epoch: int
    """The epoch of the last record."""
    timestamp_ms: int
    """The timestamp of the last record."""
    markers: tuple[Marker, ...]
    missing: tuple[int, ...] = field(default=())
    new_fields: tuple[NewFields, ...] = ()


def run_task(settings: TaskSettings, task: ExportTask) -> TaskReport:
    """Writes the files of a task. Can be repeated at any time."""
    reader = settings.location.open(settings.cluster_id)
    try:
        chunks = rows_of_range(reader, task.range, ROWS_PER_CHUNK)
        if settings.store is None:
            return write_range(settings, task, chunks)
        with TemporaryDirectory(prefix="kraftctl-export-") as directory:
            report = write_range(replace(settings, output=Path(directory)), task, chunks)
            store = settings.store.open_objects()
            files = upload(store, Path(directory), report.files, settings.hook)
            return replace(report, files=tuple(files))
    finally:
        reader.close()


@collector_paused()
def write_range(settings: TaskSettings, task: ExportTask, chunks: Iterator[MetadataRows]) -> TaskReport:
    """Writes the files of `chunks`; LogChangedError if these are not the whole range of the task."""
    counts = RowCounts()
    markers: list[Marker] = []
    new_fields: list[NewFields] = []
    place = "snapshot_index" if task.range.snapshot else "offset"
    epoch, timestamp_ms = task.range.epoch, 0
    has_secrets, key = settings.include_secrets, settings.key()
    with RangeWriter(settings.output, task.name, settings.hook, has_secrets=has_secrets) as writer:
        for rows in chunks:
            mark_aborted(rows, task.aborted)
            markers += markers_of(rows)
            if not settings.include_secrets:
                redact(rows, key)
            counts.add(rows)
            epoch, timestamp_ms = rows.runs.epochs[-1], rows.runs.timestamps_ms[-1]
            tables = encode_tables(rows, settings.cluster_id)
            if rows.newer_fields:
                new_fields += new_fields_in(tables[RECORDS], place)
            writer.add(tables)
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
        new_fields=tuple(summed(new_fields)),
    )


def _missing(wanted: LogRange, records: int) -> tuple[int, ...]:
    """Returns the missing first record: only that of a log can be unreadable, see `QuorumObserver.read`."""
    lacking = 0 if wanted.snapshot else wanted.end - wanted.start - records
    if lacking == 0:
        return ()
    if lacking == 1 and wanted.start == 0:
        return (0,)
    raise LogChangedError(f"offsets {wanted.start} to {wanted.end - 1} came as {records} records")
