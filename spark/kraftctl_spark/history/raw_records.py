"""The records of the typed tables in log order, a row group of each table at a time in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kraftctl_spark.history.stage import COLUMNS, Record
from kraftctl_spark.history.versions import Moment
from kraftctl_spark.rows.columns import FIRST_DATE_MS, LAST_DATE_MS
from kraftctl_spark.rows.tables import RECORDS, in_schema, table_schemas
from kraftctl_spark.tables.manifest import Manifest

_PLACE = ("offset", "timestamp", "aborted", "snapshot_index", "batch_offset")


def records_of(directory: Path, manifest: Manifest, start: int = 0) -> Iterator[Record]:
    """Of one manifest from an offset on, without those of aborted transactions.

    A snapshot is returned as a whole. FileNotFoundError if a file was deleted.
    """
    snapshot = (
        Moment(manifest.end - 1, snapshot_time_us(directory, manifest), True) if manifest.snapshot else None
    )
    tables = [
        _rows(directory, manifest, table, snapshot, start)
        for table in COLUMNS
        if _files(directory, manifest, table)
    ]
    for _, record in merge(*tables):
        yield record


def snapshot_time_us(directory: Path, manifest: Manifest) -> int | None:
    """Of the last record that the snapshot of this manifest contains; null for a time that is no date."""
    (path,) = _files(directory, manifest, "snapshot_header_record")
    column = pq.ParquetFile(path).read(columns=["last_contained_log_timestamp"]).column(0)
    time_ms = int(column[0].as_py())
    return time_ms * 1000 if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else None


def first_time_us(directory: Path, manifest: Manifest) -> int | None:
    """Of the first record that has one."""
    return _record_time(directory, manifest, 0)


def last_time_us(directory: Path, manifest: Manifest) -> int | None:
    """Of the last record that has one; of a snapshot, that of the last record that it contains."""
    return (
        snapshot_time_us(directory, manifest) if manifest.snapshot else _record_time(directory, manifest, -1)
    )


def _record_time(directory: Path, manifest: Manifest, index: int) -> int | None:
    file = pq.ParquetFile(_files(directory, manifest, RECORDS)[index])
    group = index % file.num_row_groups
    times = file.read_row_group(group, columns=["timestamp"]).column(0).cast(pa.int64()).drop_null()
    return int(times[index].as_py()) if len(times) else None


def _files(directory: Path, manifest: Manifest, table: str) -> list[Path]:
    return [directory / file.path for file in manifest.files if file.table == table]


def _rows(
    directory: Path, manifest: Manifest, table: str, snapshot: Moment | None, start: int
) -> Iterator[tuple[int, Record]]:
    """Each row with its place in the manifest, which no other record has."""
    names = [*_PLACE, *COLUMNS[table]]
    schema = pa.schema([table_schemas()[table].field(name) for name in dict.fromkeys(names)])
    for path in _files(directory, manifest, table):
        file = pq.ParquetFile(path)
        present = [name for name in schema.names if name in file.schema_arrow.names]
        for group in range(file.num_row_groups):
            if snapshot is None and _ends_before(file, group, start):
                continue
            found = in_schema(file.read_row_group(group, columns=present), schema)
            found = found.filter(pc.invert(pc.fill_null(found.column("aborted"), False)))
            if snapshot is None:
                found = found.filter(pc.greater_equal(found.column("offset"), start))
            columns = (_values(found.column(name)) for name in COLUMNS[table])
            rows = zip(*columns, strict=True)
            if snapshot is not None:
                places: list[int] = found.column("snapshot_index").to_pylist()
                for place, row in zip(places, rows, strict=True):
                    yield place, Record(table, row, snapshot)
            else:
                offsets: list[int] = found.column("offset").to_pylist()
                times: list[Any] = found.column("timestamp").cast(pa.int64()).to_pylist()
                batches: list[int | None] = found.column("batch_offset").to_pylist()
                for offset, time_us, batch, row in zip(offsets, times, batches, rows, strict=True):
                    yield offset, Record(table, row, Moment(offset, time_us, False, batch))


def _values(column: pa.ChunkedArray) -> Iterable[Any]:
    """Most columns of changes are null, and making a list of nulls takes as long as of values."""
    if column.null_count == len(column):
        return repeat(None, len(column))
    values: list[Any] = column.to_pylist()
    return values


def _ends_before(file: pq.ParquetFile, group: int, start: int) -> bool:
    """Whether all of its rows do, so that reading the rest of a merged file costs only the rest."""
    place = file.schema_arrow.names.index("offset")  # Before the first column that has several in Parquet.
    statistics = file.metadata.row_group(group).column(place).statistics
    return statistics is not None and statistics.has_min_max and statistics.max < start
