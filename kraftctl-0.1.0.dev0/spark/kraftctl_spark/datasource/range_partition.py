"""One partition of `format("kraft")`: the range of the log that one task reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from kraftctl_observer.log_reader import LogReader
from kraftctl_spark.datasource.pushed_filters import ALL, Bounds, has_time_in
from kraftctl_spark.datasource.wide_rows import encode_wide_rows
from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.log.log_range import LogRange, read_range
from kraftctl_spark.rows.log_rows import rows_of_batches
from kraftctl_spark.rows.metadata_rows import MetadataRows

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_ARROW_BATCH = 20_000
"""Spark keeps the size of our batches; with 5 to 20 thousand rows, both sides are busy."""


@dataclass
class RangePartition(InputPartition):
    """A range, and the location of its log."""

    range: LogRange
    cluster: str
    times_ms: Bounds = ALL
    """Batches without a record in these times are left out."""


def partitions_of(ranges: Iterable[LogRange], cluster: str, times_ms: Bounds = ALL) -> list[InputPartition]:
    """Returns one partition per range."""
    return [RangePartition(one, cluster, times_ms) for one in ranges]


def batches_of_partition(location: LogLocation, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yields the rows of a planned partition, as record batches of a good size for Spark.

    Where nothing is planned, Spark reads one partition of its own: it has no rows.
    """
    if not isinstance(partition, RangePartition):
        return
    reader = location.open(partition.cluster)
    try:
        for rows in _chunks(reader, partition):
            yield from _arrow_batches(rows, partition.cluster)
    finally:
        reader.close()


def _chunks(reader: LogReader, partition: RangePartition) -> Iterator[MetadataRows]:
    batches = read_range(reader, partition.range)
    if partition.times_ms != ALL:
        batches = (batch for batch in batches if has_time_in(partition.times_ms, batch))
    return rows_of_batches(batches, partition.range)


def _arrow_batches(rows: MetadataRows, cluster_id: str) -> Iterator[pa.RecordBatch]:
    encoded = encode_wide_rows(rows, cluster_id)
    batches = -(-len(rows) // ROWS_PER_ARROW_BATCH)
    size = -(-len(rows) // batches)
    for first in range(0, len(rows), size):
        yield encoded.slice(first, size)
