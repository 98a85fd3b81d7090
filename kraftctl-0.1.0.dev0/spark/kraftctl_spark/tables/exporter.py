"""Brings the tables up to an offset: plans tasks, runs them with a `TaskRunner`, commits a manifest.

It always starts where the manifests end, independent of the caller: a range that is already written is
skipped, and a missing one before it is written first. Therefore neither a lost checkpoint nor a repeated
batch can lose or duplicate a row.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from kraftctl_observer.log_reader import LogChangedError, LogReader
from kraftctl_spark.log.log_range import LogRange, cut_into_ranges
from kraftctl_spark.rows.decoder import decoder_name
from kraftctl_spark.rows.transactions import Transactions, resolve
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest, Position
from kraftctl_spark.tables.new_fields import summed
from kraftctl_spark.tables.output import Output

TaskRunner = Callable[[list[ExportTask]], list[TaskReport]]
"""Runs all tasks, in any order and place."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Committed:
    """A batch that has just been committed."""

    manifest: Manifest
    number: int
    """The number of the commit."""
    took_s: float
    lag_ms: int
    """The age of its last record."""
    at_ms: int
    raw_start: int = 0
    """Records before this offset have expired."""


def no_note(batch: Committed) -> None:
    """Does nothing, where nothing monitors."""


class Exporter:
    """Owns an output while it is locked. `reader` must read the same log as the tasks do."""

    def __init__(
        self,
        output: Output,
        settings: TaskSettings,
        reader: LogReader,
        run_tasks: TaskRunner,
        note: Callable[[Committed], None] = no_note,
    ) -> None:
        self._output = output
        self._settings = settings
        self._reader = reader
        self._run_tasks = run_tasks
        self._note = note
        self._swept = False

    def export_to(self, end: int, end_epoch: int) -> Position:
        """Commits what is missing below `end`; returns the position of the tables.

        The position is before `end` when a transaction is open there: its records follow once it has ended.
        """
        self._sweep()
        position = checked_position(self._output, self._settings.cluster_id)
        while position.offset < end:
            began_s = time.monotonic()
            with ExitStack() as failed:
                failed.callback(self._output.remove_leftovers)
                done = self._export_next(position, end, end_epoch)
                if done is not None:
                    self._output.commit(done[0])
                failed.pop_all()
            if done is None:
                break
            manifest, timestamp_ms = done
            at_ms = time.time_ns() // 1_000_000
            lag_ms = max(0, at_ms - timestamp_ms)
            number = self._output.commit_number
            batch = Committed(
                manifest, number, time.monotonic() - began_s, lag_ms, at_ms, self._output.raw_start
            )
            log.info("%s", progress_line(batch))
            self._note(batch)
            position = Position(manifest.end, manifest.epoch, manifest.cluster_id)
        return position

    def _sweep(self) -> None:
        """Repeats the cleanup of the start: a killed writer may have run for some more seconds."""
        if not self._swept:
            removed = self._output.remove_leftovers()
            if removed:
                log.info("removed %d files that an interrupted export had left behind", removed)
            self._swept = True

    def _export_next(self, position: Position, end: int, end_epoch: int) -> tuple[Manifest, int] | None:
        """Returns the manifest to commit, and the time of its last record; None when an open transaction
        is next.
        """
        place = self._reader.position(position.offset, position.epoch)
        if place.snapshot is not None:
            if position.offset:
                log.warning(
                    "a snapshot replaces offsets %d to %d, which were deleted before they were exported",
                    *(position.offset, place.snapshot.offset - 1),
                )
            instead = LogRange(position.offset, place.snapshot.offset, place.snapshot.epoch, snapshot=True)
            reports = self._run_tasks([ExportTask(instead)])
            return self._manifest(reports, place.snapshot.offset, place.high_watermark, snapshot=True)
        if place.high_watermark < end:
            raise LogChangedError(
                f"the committed log ends at {place.high_watermark}, but was planned up to {end} before: it "
                "lost its end, or --assume-committed was given then"
            )
        ranges = cut_into_ranges(
            start=position.offset,
            end=end,
            epoch=position.epoch,
            end_epoch=max(end_epoch, position.epoch),
        )
        reports = self._run_tasks([ExportTask(one) for one in ranges])
        transactions = resolve(position.offset, (marker for report in reports for marker in report.markers))
        stable_end = end if transactions.open_since is None else transactions.open_since
        reports = self._repeated(reports, transactions, stable_end)
        if stable_end == position.offset:
            log.info("offset %d begins a transaction that is still open", stable_end)
            return None
        return self._manifest(reports, stable_end, place.high_watermark)

    def _repeated(self, reports: list[TaskReport], transactions: Transactions, end: int) -> list[TaskReport]:
        """Returns the reports of all tasks below `end`; those with aborted or open transactions run again."""
        final: list[TaskReport] = []
        again: list[ExportTask] = []
        for report in reports:
            written = report.task.range
            within = tuple(
                (first, last)
                for first, last in transactions.aborted
                if first < min(written.end, end) and last >= written.start
            )
            if written.end <= end and not within:
                final.append(report)
            elif written.start < end:
                again.append(ExportTask(replace(written, end=min(written.end, end)), aborted=within))
        if again:
            final += self._run_tasks(again)
        kept = {staged.temporary for report in final for staged in report.files}
        self._output.discard(
            staged for report in reports for staged in report.files if staged.temporary not in kept
        )
        return sorted(final, key=lambda report: report.task.range.start)

    def _manifest(
        self, reports: list[TaskReport], end: int, high_watermark: int, snapshot: bool = False
    ) -> tuple[Manifest, int]:
        """Gives the files their names; returns their manifest and the timestamp of its last record."""
        ordered = sorted(reports, key=lambda report: report.task.range.start)
        counts: Counter[str] = Counter()
        for report in ordered:
            counts.update(report.counts)
        staged = [one for report in ordered for one in report.files]
        manifest = Manifest(
            cluster_id=self._settings.cluster_id,
            start=ordered[0].task.range.start,
            end=end,
            epoch=ordered[-1].epoch,
            files=self._output.publish(staged),
            counts=dict(counts),
            high_watermark=high_watermark,
            snapshot=snapshot,
            missing=tuple(offset for report in ordered for offset in report.missing),
            secrets=self._settings.include_secrets,
            new_fields=tuple(summed(one for report in ordered for one in report.new_fields)),
            decoder=decoder_name(),
        )
        return manifest, ordered[-1].timestamp_ms


def progress_line(batch: Committed) -> str:
    """Returns the log line for a batch, with the lag in records and the age of its last record."""
    manifest = batch.manifest
    records = manifest.counts["records"]
    return (
        f"committed offsets {manifest.start} to {manifest.end - 1}: {records} records in "
        f"{len(manifest.files)} files, {records / max(batch.took_s, 0.001):.0f} records/s; "
        f"lag {manifest.lag} records, {batch.lag_ms} ms; commit {batch.number}"
    )


def checked_position(output: Output, cluster_id: str) -> Position:
    """Returns the position of the tables; ExportRefusedError when they are of another cluster."""
    position = output.position()
    if position.cluster_id not in (None, cluster_id):
        raise ExportRefusedError(
            f"{output.where} holds the metadata of cluster {position.cluster_id}, but the log belongs "
            f"to {cluster_id}: choose another output directory, or name the right controllers"
        )
    return position
