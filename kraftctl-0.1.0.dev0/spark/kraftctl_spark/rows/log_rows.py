"""The rows of the log, of a snapshot or of a range, in chunks that bound the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraftctl_observer.log_reader import LogReader
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_spark.log.log_range import LogRange, read_range
from kraftctl_spark.rows.metadata_rows import MetadataRows

ROWS_PER_CHUNK = 20_000
"""Rows per chunk, except for the rest of a batch: fewer cost more calls per row, more only cost memory."""
BYTES_PER_CHUNK = 268_435_456
"""The raw values per chunk, except for the rest of a batch. Arrow's columns cannot have 2 GiB."""


def rows_of_range(
    reader: LogReader, wanted: LogRange, rows_per_chunk: int = ROWS_PER_CHUNK
) -> Iterator[MetadataRows]:
    """Yields all rows of a range, in chunks."""
    return rows_of_batches(read_range(reader, wanted), wanted, rows_per_chunk)


def rows_of_batches(
    batches: Iterable[RecordBatch], wanted: LogRange, rows_per_chunk: int = ROWS_PER_CHUNK
) -> Iterator[MetadataRows]:
    """Yields the rows that some batches of a range have in it, in chunks."""
    if wanted.snapshot:
        return rows_of_snapshot(batches, wanted.end, rows_per_chunk)
    return rows_of_log(batches, wanted.start, wanted.end, rows_per_chunk)


def rows_of_log(
    batches: Iterable[RecordBatch], first_offset: int, end_offset: int, rows_per_chunk: int = ROWS_PER_CHUNK
) -> Iterator[MetadataRows]:
    """Yields all rows of [first_offset, end_offset), in chunks."""
    rows = MetadataRows()
    for batch in batches:
        rows.add(batch, first_offset, end_offset)
        if _is_full(rows, rows_per_chunk):
            yield rows
            rows = MetadataRows()
    if len(rows):
        yield rows


def rows_of_snapshot(
    batches: Iterable[RecordBatch], snapshot_end_offset: int, rows_per_chunk: int = ROWS_PER_CHUNK
) -> Iterator[MetadataRows]:
    """Yields all rows of the snapshot that ends (exclusively) at `snapshot_end_offset`, in chunks."""
    rows = MetadataRows(snapshot_end_offset)
    for batch in batches:
        rows.add(batch)
        if _is_full(rows, rows_per_chunk):
            yield rows
            rows = MetadataRows(snapshot_end_offset)
    if len(rows):
        yield rows


def _is_full(rows: MetadataRows, rows_per_chunk: int) -> bool:
    return len(rows) >= rows_per_chunk or len(rows.columns.values.data) >= BYTES_PER_CHUNK
