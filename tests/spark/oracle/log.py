"""What the views read: the records that have an effect, in log order, and the ranges in which they are known.

Where part of the log was deleted before it could be exported, a snapshot replaces it. The exported log is
therefore one or more ranges without a gap. Every range but one that starts at offset 0 starts with a
snapshot, which contains the whole state at that offset.
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
    """The tables do not contain the requested state; the message says which states they contain."""


@dataclass(frozen=True)
class KnownRange:
    """Offsets [start, end) without a gap, and the snapshot of everything before `start` unless that is 0."""

    start: int
    end: int
    from_snapshot: bool
    start_ms: int
    """The state is known from this time on."""
    end_ms: int
    """Of the last record."""

    @property
    def first_known(self) -> int:
        """The first offset at which the state is known; of a snapshot, the last one that it contains."""
        return self.start - 1 if self.from_snapshot else self.start


@dataclass(frozen=True)
class Log:
    """The exported log for the SQL of the views: all of it, or what led to the state at an offset."""

    known_ranges: tuple[KnownRange, ...]
    tables: frozenset[str]
    """The tables that have rows."""
    as_of: int | None = None
    prefix: str = ""
    """Before the name of each table in the session."""

    @property
    def last(self) -> KnownRange:
        return self.known_ranges[-1]

    def cut(self, offset: int) -> Log:
        """The part that determines the state at an offset; UnknownPointError when that is not known."""
        for known in self.known_ranges:
            if known.first_known <= offset < known.end:
                return replace(self, known_ranges=(known,), as_of=offset)
        offsets = ", ".join(f"{one.first_known} to {one.end - 1}" for one in self.known_ranges)
        raise UnknownPointError(
            f"the state as of offset {offset} is not known: choose an offset from {offsets or 'nothing yet'}"
        )

    def rows(self, table: str, aborted: bool = False) -> str:
        """A subquery of the rows of a table that have an effect; with `aborted`, of all rows.

        It adds columns. `range_start` and `at` give the order; the rows of a snapshot are at its last offset.
        `time` is that of the record, or of the last record in the snapshot. `in_snapshot` says whether the
        row comes from a snapshot.
        """
        where = "true" if aborted else "aborted IS NOT TRUE"
        if self.as_of is not None:
            snapshot = f"snapshot_end_offset = {self.last.start}" if self.last.from_snapshot else "false"
            where += f" AND (offset BETWEEN {self.last.start} AND {self.as_of} OR {snapshot})"
        return (
            f"(SELECT *, {self._range_start()} AS range_start, "
            "coalesce(offset, snapshot_end_offset - 1) AS at, "
            f"CASE WHEN offset IS NULL THEN {self._times('snapshot_end_offset', 'start_ms')} "
            "ELSE timestamp END AS time, offset IS NULL AS in_snapshot "
            f"FROM `{self.prefix}{table}` WHERE {where})"
        )

    def end_time(self, range_start: str = "range_start") -> str:
        """SQL for the time up to which the range that starts at this column's value is known."""
        return self._times(range_start, "end_ms")

    def end_reason(self, range_start: str = "range_start") -> str:
        """SQL for why nothing is known after this range: `end` of the log, or a `gap`."""
        return f"CASE WHEN {range_start} = {self.last.start} THEN 'end' ELSE 'gap' END"

    def _range_start(self) -> str:
        starts = [one.start for one in reversed(self.known_ranges)]
        later = "".join(f" WHEN offset >= {start} THEN {start}L" for start in starts[:-1])
        return f"CASE WHEN offset IS NULL THEN snapshot_end_offset{later} ELSE {starts[-1]}L END"

    def _times(self, column: str, attribute: str) -> str:
        cases = "".join(
            f" WHEN {one.start} THEN timestamp_millis({getattr(one, attribute)})" for one in self.known_ranges
        )
        return f"CASE {column}{cases} END"


def log_of(directory: Path, manifests: list[Manifest]) -> Log:
    """The log that these manifests of a directory describe; FileNotFoundError if a file was deleted."""
    groups: list[list[Manifest]] = []
    for manifest in manifests:
        if manifest.snapshot or not groups:
            groups.append([])
        groups[-1].append(manifest)
    tables = frozenset(file.table for one in manifests for file in one.files)
    return Log(tuple(_known_range(directory, group) for group in groups), tables)


def _known_range(directory: Path, manifests: list[Manifest]) -> KnownRange:
    first, last = manifests[0], manifests[-1]
    if first.snapshot:
        start, start_ms = first.end, _snapshot_time(directory, first)
    else:
        start, start_ms = 0, _record_time(directory, first, 0)
    end_ms = start_ms if last.snapshot else _record_time(directory, last, -1)
    return KnownRange(start, last.end, first.snapshot, start_ms, end_ms)


def _snapshot_time(directory: Path, manifest: Manifest) -> int:
    (path,) = (file.path for file in manifest.files if file.table == "snapshot_header_record")
    column = pq.ParquetFile(directory / path).read(columns=["last_contained_log_timestamp"]).column(0)
    time_ms = int(column[0].as_py())
    return time_ms if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else 0


def _record_time(directory: Path, manifest: Manifest, index: int) -> int:
    """Time of the first (0) or last (-1) record of a batch that has one; 0 when none has."""
    path = [file.path for file in manifest.files if file.table == RECORDS][index]
    file = pq.ParquetFile(directory / path)
    group = index % file.num_row_groups
    times = file.read_row_group(group, columns=["timestamp"]).column(0).cast(pa.int64()).drop_null()
    return int(times[index].as_py()) // 1000 if len(times) else 0
