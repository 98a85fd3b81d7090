"""What one task of `format("kraft")` reads, and how a stretch of the log is cut into such ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from kraftctl_spark.datasource.wide_rows import encode_wide_rows
from kraftctl_spark.log.log_reader import LogReader, OffsetAndEpoch
from kraftctl_spark.rows.metadata_rows import MetadataRows, rows_of_log, rows_of_snapshot

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_ARROW_BATCH = 20_000
"""Spark takes over our batches as they are; 5 to 20 thousand rows keep both sides busy."""
OFFSETS_PER_PARTITION = 50_000
"""Fixed, so that a planned range is always cut in the same places."""


@dataclass
class LogRange(InputPartition):
    """What one task reads: offsets [start, end) of the log, or the snapshot that ends at `end`."""

    start: int
    end: int
    epoch: int
    """Of the record before `start` or a later one; of the snapshot."""
    cluster: str
    snapshot: bool


def plan_ranges(start: int, end: int, epoch: int, end_epoch: int, cluster: str) -> list[LogRange]:
    """Depends on nothing but its arguments: a planned stretch is read again after a restart."""
    return [
        LogRange(
            first,
            min(first + OFFSETS_PER_PARTITION, end),
            epoch if first == start else end_epoch,
            cluster,
            False,
        )
        for first in range(start, end, OFFSETS_PER_PARTITION)
    ]


def rows_of_range(reader: LogReader, wanted: LogRange) -> Iterator[MetadataRows]:
    if wanted.snapshot:
        return rows_of_snapshot(reader.read_snapshot(OffsetAndEpoch(wanted.end, wanted.epoch)), wanted.end)
    return rows_of_log(reader.read(wanted.start, wanted.epoch, wanted.end), wanted.start, wanted.end)


def arrow_batches(chunks: Iterator[MetadataRows]) -> Iterator[pa.RecordBatch]:
    for rows in chunks:
        encoded = encode_wide_rows(rows)
        batches = -(-len(rows) // ROWS_PER_ARROW_BATCH)
        size = -(-len(rows) // batches)
        for first in range(0, len(rows), size):
            yield encoded.slice(first, size)
