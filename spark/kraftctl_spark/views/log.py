"""What the views read: the records that count, in the order of the log, and where the log is not known.

Where a part of the log was gone before it was exported, a snapshot stands for it. The log is thus a row of
stretches, each without a gap in it; a snapshot begins a stretch and holds all that is true there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.rows.columns import FIRST_DATE_MS, LAST_DATE_MS
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.tables.manifest import Manifest


class UnknownPointError(ValueError):
    """A state was asked for that the tables do not tell; the message says which they do."""


@dataclass(frozen=True)
class Stretch:
    """Offsets [start, end) of the log, and the snapshot of all before them unless they start it."""

    start: int
    end: int
    from_snapshot: bool
    start_ms: int
    """From when on the state is known."""
    end_ms: int
    """Of the last record."""

    @property
    def first_known(self) -> int:
        """The first offset as of which the state is known: a snapshot's last one."""
        return self.start - 1 if self.from_snapshot else self.start


@dataclass(frozen=True)
class Log:
    """The exported log for those who write SQL: all of it, or what led to the state as of an offset."""

    stretches: tuple[Stretch, ...]
    tables: frozenset[str]
    """Those with rows."""
    as_of: int | None = None

    @property
    def last(self) -> Stretch:
        return self.stretches[-1]

    def cut(self, offset: int) -> Log:
        """What counts for the state as of an offset; UnknownPointError when it is not known."""
        for stretch in self.stretches:
            if stretch.first_known <= offset < stretch.end:
                return replace(self, stretches=(stretch,), as_of=offset)
        known = ", ".join(f"{one.first_known} to {one.end - 1}" for one in self.stretches)
        raise UnknownPointError(
            f"the state as of offset {offset} is not known: choose an offset from {known or 'nothing yet'}"
        )

    def rows(self, table: str, aborted: bool = False) -> str:
        """A table's rows that count, or with `aborted` all, as a subquery. Its columns besides:

        `stretch` and `at`, which order them; a snapshot's rows stand at its last offset. `time` is the
        record's, or of the last record in the snapshot; `in_snapshot` whether it comes out of one.
        """
        where = "true" if aborted else "aborted IS NOT TRUE"
        if self.as_of is not None:
            snapshot = f"snapshot_end_offset = {self.last.start}" if self.last.from_snapshot else "false"
            where += f" AND (offset BETWEEN {self.last.start} AND {self.as_of} OR {snapshot})"
        return (
            f"(SELECT *, {self._stretch()} AS stretch, coalesce(offset, snapshot_end_offset - 1) AS at, "
            f"CASE WHEN offset IS NULL THEN {self._times('snapshot_end_offset', 'start_ms')} "
            f"ELSE timestamp END AS time, offset IS NULL AS in_snapshot FROM {table} WHERE {where})"
        )

    def end_time(self, stretch: str = "stretch") -> str:
        """SQL for up to when a stretch, a column, is known."""
        return self._times(stretch, "end_ms")

    def end_reason(self, stretch: str = "stretch") -> str:
        """SQL for why nothing is known of what comes after a stretch."""
        return f"CASE WHEN {stretch} = {self.last.start} THEN 'end' ELSE 'gap' END"

    def _stretch(self) -> str:
        starts = [one.start for one in reversed(self.stretches)]
        later = "".join(f" WHEN offset >= {start} THEN {start}L" for start in starts[:-1])
        return f"CASE WHEN offset IS NULL THEN snapshot_end_offset{later} ELSE {starts[-1]}L END"

    def _times(self, column: str, attribute: str) -> str:
        cases = "".join(
            f" WHEN {one.start} THEN timestamp_millis({getattr(one, attribute)})" for one in self.stretches
        )
        return f"CASE {column}{cases} END"


def log_of(directory: Path, manifests: list[Manifest]) -> Log:
    """The log that these manifests of a directory describe; FileNotFoundError if a file has gone."""
    groups: list[list[Manifest]] = []
    for manifest in manifests:
        if manifest.snapshot or not groups:
            groups.append([])
        groups[-1].append(manifest)
    tables = frozenset(file.table for one in manifests for file in one.files)
    return Log(tuple(_stretch(directory, group) for group in groups), tables)


def _stretch(directory: Path, manifests: list[Manifest]) -> Stretch:
    first, last = manifests[0], manifests[-1]
    if first.snapshot:
        start, start_ms = first.end, _snapshot_time(directory, first)
    else:
        start, start_ms = 0, _record_time(directory, first, 0)
    end_ms = start_ms if last.snapshot else _record_time(directory, last, -1)
    return Stretch(start, last.end, first.snapshot, start_ms, end_ms)


def _snapshot_time(directory: Path, manifest: Manifest) -> int:
    (path,) = (file.path for file in manifest.files if file.table == "snapshot_header_record")
    column = pq.ParquetFile(directory / path).read(columns=["last_contained_log_timestamp"]).column(0)
    time_ms = int(column[0].as_py())
    return time_ms if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else 0


def _record_time(directory: Path, manifest: Manifest, index: int) -> int:
    """Of the first record of a batch (0), or its last one (-1), that has a time; 0 when none has."""
    path = [file.path for file in manifest.files if file.table == RECORDS][index]
    file = pq.ParquetFile(directory / path)
    group = index % file.num_row_groups
    times = file.read_row_group(group, columns=["timestamp"]).column(0).cast(pa.int64()).drop_null()
    return int(times[index].as_py()) // 1000 if len(times) else 0
