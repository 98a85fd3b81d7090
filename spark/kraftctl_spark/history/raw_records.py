"""The records of the typed tables, in steps: consecutive ones, those of each type as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.partitions.steps import Step, schema_of, type_of
from kraftctl_spark.history.record_columns import COLUMNS
from kraftctl_spark.history.schema import TIME
from kraftctl_spark.rows.columns import FIRST_DATE_MS, LAST_DATE_MS
from kraftctl_spark.rows.tables import RECORDS, in_schema, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile, Sources
from kraftctl_spark.tables.manifest import Manifest

RECORDS_PER_STEP = 100_000
"""The limit of records of one type in a step."""

OTHERS_PER_STEP = 50_000
"""The limit of a type without partitions: each text has up to 32 KiB, and all of an Arrow column up to 2
GiB."""

_OF_PARTITIONS = ("partition_record", "partition_change_record")

_PLACE = ("offset", "timestamp", "aborted", "snapshot_index", "batch_offset")
_END = 2**63 - 1


def steps_of(
    directory: Sources, manifests: Sequence[Manifest], start: int = 0, stop: int = _END
) -> Iterator[Step]:
    """Yields the steps of consecutive manifests from an offset up to another, or of one of a snapshot.

    FileNotFoundError if a file was deleted, ExportRefusedError if one is damaged.
    """
    rows = Counter(dict.fromkeys(COLUMNS, 0))
    for file in (file for manifest in manifests for file in manifest.files if file.table in rows):
        rows[file.table] += file.rows
    # The type with the most records usually ends a step: of all others, only what is before its end is read.
    tables = [_Rows(directory, manifests, table, start, stop) for table, _ in rows.most_common()]
    while tables:
        last = _END
        for table in tables:
            last = table.fill(last)
        taken = {table.name: table.take(last) for table in tables}
        if step := {name: found for name, found in taken.items() if found.num_rows}:
            yield Step(step, manifests[0].snapshot)
        tables = [table for table in tables if not table.is_over]


def snapshot_time_us(directory: Sources, manifest: Manifest) -> int | None:
    """Returns the time of the last record in this manifest's snapshot; null for a time that is no date."""
    (path,) = _files(directory, manifest, "snapshot_header_record")
    column = CheckedFile(path).read(columns=["last_contained_log_timestamp"]).column(0)
    time_ms = int(column[0].as_py())
    return time_ms * 1000 if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else None


def first_time_us(directory: Sources, manifest: Manifest) -> int | None:
    """Returns the time of the first record that has one."""
    return _record_time(directory, manifest, 0)


def last_time_us(directory: Sources, manifest: Manifest) -> int | None:
    """Returns the time of the last record that has one; of a snapshot, that of the last record in it."""
    return (
        snapshot_time_us(directory, manifest) if manifest.snapshot else _record_time(directory, manifest, -1)
    )


def time_before_us(directory: Sources, manifest: Manifest, offset: int) -> int | None:
    """Returns the time of the last record before an offset that has one."""
    found = None if manifest.expired is None else manifest.expired.last_time_us
    for path in _files(directory, manifest, RECORDS):
        file = CheckedFile(path)
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=["offset", "timestamp"])
            rows = rows.filter(pc.less(rows.column("offset"), offset))
            times = rows.column("timestamp").cast(pa.int64()).drop_null()
            found = int(times[-1].as_py()) if len(times) else found
    return found


def _record_time(directory: Sources, manifest: Manifest, index: int) -> int | None:
    if manifest.expired is not None:
        return manifest.expired.last_time_us
    file = CheckedFile(_files(directory, manifest, RECORDS)[index])
    group = index % file.num_row_groups
    times = file.read_row_group(group, columns=["timestamp"]).column(0).cast(pa.int64()).drop_null()
    return int(times[index].as_py()) if len(times) else None


def _files(directory: Sources, manifest: Manifest, table: str) -> list[Any]:
    return [directory / file.path for file in manifest.files if file.table == table]


class _Group(NamedTuple):
    """A row group that is not read yet."""

    file: CheckedFile
    number: int
    first_place: int


class _Rows:
    """The rows of one table; in memory are those of a step, and the rest of a row group."""

    def __init__(
        self, directory: Sources, manifests: Sequence[Manifest], name: str, start: int, stop: int
    ) -> None:
        first = manifests[0]
        self.name = name
        self._most = RECORDS_PER_STEP if name in _OF_PARTITIONS else min(RECORDS_PER_STEP, OTHERS_PER_STEP)
        self._start, self._stop = start, stop
        self._place = "snapshot_index" if first.snapshot else "offset"
        self._end: tuple[int, int | None] | None = None
        if first.snapshot:
            self._end = first.end - 1, snapshot_time_us(directory, first)
        columns = {column: table_schemas()[name].field(column).type for column in _PLACE}
        columns |= {column: type_of(name, column) for column in COLUMNS[name]}
        self._schema = pa.schema(list(columns.items()))
        self._with_dictionary = [name for name, kind in columns.items() if pa.types.is_dictionary(kind)]
        files = (path for manifest in manifests for path in _files(directory, manifest, name))
        self._groups = self._unread(files)
        self._next = next(self._groups, None)
        self._held = schema_of(name).empty_table()

    def fill(self, last: int) -> int:
        """Reads row groups that begin up to `last`, until a step has enough; returns the place up to which no
        row is missing.
        """
        held, count = [self._held], self._held.num_rows
        while count < self._most and self._next is not None and self._next.first_place <= last:
            group, self._next = self._next, next(self._groups, None)
            held.append(self._read(group))
            count += held[-1].num_rows
        if len(held) > 1:
            self._held = pa.concat_tables(held)
        return last if count < self._most else min(last, self._held.column("place")[self._most - 1].as_py())

    @property
    def is_over(self) -> bool:
        """Returns whether all rows were taken."""
        return self._next is None and not self._held.num_rows

    def take(self, last: int) -> pa.Table:
        """Returns the rows up to a place."""
        count = pc.sum(pc.less_equal(self._held.column("place"), last)).as_py() or 0
        taken, self._held = self._held.slice(0, count), self._held.slice(count)
        return taken

    def _unread(self, files: Iterable[Any]) -> Iterator[_Group]:
        for one in files:
            file = CheckedFile(one, with_dictionary=self._with_dictionary)
            for group in range(file.num_row_groups):
                first, last = _places(file, group, self._place)
                if self._end is not None or (last >= self._start and first < self._stop):
                    yield _Group(file, group, first)

    def _read(self, group: _Group) -> pa.Table:
        present = [name for name in self._schema.names if name in group.file.schema.names]
        found = in_schema(group.file.read_row_group(group.number, columns=present), self._schema)
        if pc.any(found.column("aborted")).as_py():
            found = found.filter(pc.invert(pc.fill_null(found.column("aborted"), False)))
        if self._end is None:
            if group.first_place < self._start:
                found = found.filter(pc.greater_equal(found.column("offset"), self._start))
            if self._stop < _END:
                found = found.filter(pc.less(found.column("offset"), self._stop))
            offsets, times = found.column("offset"), found.column("timestamp")
        else:
            offset, time_us = self._end
            offsets = pa.repeat(pa.scalar(offset, pa.int64()), found.num_rows)
            times = pa.repeat(pa.scalar(time_us, pa.int64()), found.num_rows).cast(TIME)
        place = [found.column(self._place), offsets, times, found.column("batch_offset")]
        columns = place + [found.column(name) for name in COLUMNS[self.name]]
        return pa.Table.from_arrays(columns, schema=schema_of(self.name))


def _places(file: CheckedFile, group: int, name: str) -> tuple[int, int]:
    """Returns the first and the last place of a row group, so that the start of a file need not be read."""
    column = file.schema.names.index(name)  # Before the first column that has several in Parquet.
    statistics = file.metadata.row_group(group).column(column).statistics
    if statistics is not None and statistics.has_min_max:
        return statistics.min, statistics.max
    found = pc.min_max(file.read_row_group(group, columns=[name]).column(0)).as_py()
    return found["min"], found["max"]
