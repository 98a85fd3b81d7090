"""`spark.read.format("kraft")` reads what is committed now, or a range of it, as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from kraftctl_observer.log_reader import LogPosition, LogReader
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_spark.datasource.plain_errors import without_traceback
from kraftctl_spark.datasource.pushed_filters import EVERYTHING, Wanted, wanted_of
from kraftctl_spark.datasource.range_partition import batches_of_partition, partitions_of
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.log.log_range import LogRange, cut_into_ranges

if TYPE_CHECKING:
    import pyarrow as pa


PUSHDOWN_WORKER = "pyspark.sql.worker.data_source_pushdown_filters"
"""Spark's process runs this to ask a reader which filters it can use."""


class KraftBatchReader(DataSourceReader):
    """Plans once per query, up to the high watermark at that time."""

    def __init__(self, options: KraftOptions) -> None:
        self._options = options
        self._wanted = EVERYTHING

    def partitions(self) -> list[InputPartition]:
        with without_traceback():
            reader = self._options.location.open(self._options.cluster_id)
            try:
                ranges = plan_batch(
                    reader, self._options.starting_offset, self._options.ending_offset, self._wanted
                )
                return partitions_of(ranges, reader.cluster_id(), self._wanted.times_ms)
            finally:
                reader.close()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with without_traceback():
            yield from batches_of_partition(self._options.location, partition)


class FilteredBatchReader(KraftBatchReader):
    """Reads no more of the log than the filters of the query need."""

    def pushFilters(self, filters: list[Filter]) -> list[Filter]:
        """Takes the filters and returns all of them: Spark evaluates them again."""
        self._wanted = wanted_of(filters)
        return filters


def batch_reader(options: KraftOptions) -> KraftBatchReader:
    """Returns a reader that takes filters only where Spark asks for them.

    With `spark.sql.python.filterPushdown.enabled` off, Spark fails every query of a reader that does.
    """
    return (FilteredBatchReader if PUSHDOWN_WORKER in sys.modules else KraftBatchReader)(options)


def plan_batch(
    reader: LogReader, starting_offset: int | None, ending_offset: int | None, wanted: Wanted = EVERYTHING
) -> list[LogRange]:
    """Plans the ranges; ValueError for offsets that cannot be read, or are deleted."""
    place = reader.position(0, 0)
    return wanted.clip(_planned(reader, starting_offset, ending_offset, place), place.leader_epoch)


def _planned(
    reader: LogReader, starting_offset: int | None, ending_offset: int | None, place: LogPosition
) -> list[LogRange]:
    end = place.high_watermark if ending_offset is None else ending_offset
    if end > place.high_watermark:
        raise ValueError(f"option endingOffset={end}: the log is committed up to {place.high_watermark} only")
    if ending_offset is None:
        reader.position(end, place.leader_epoch)  # Raises where the log only appears to end.
    if starting_offset is not None:
        epoch = _epoch_before(reader, starting_offset, end, place)
        return cut_into_ranges(start=starting_offset, end=end, epoch=epoch, end_epoch=place.leader_epoch)
    if place.snapshot is None:
        return cut_into_ranges(start=0, end=end, epoch=0, end_epoch=place.leader_epoch)
    return _with_snapshot(place.snapshot, end, place.leader_epoch)


def _with_snapshot(snapshot: OffsetAndEpoch, end: int, leader_epoch: int) -> list[LogRange]:
    if end < snapshot.offset:
        raise ValueError(
            f"option endingOffset={end}: the log before {snapshot.offset} has been deleted, and the snapshot "
            "in its place ends there"
        )
    return [
        LogRange(0, snapshot.offset, snapshot.epoch, snapshot=True),
        *cut_into_ranges(
            start=snapshot.offset,
            end=end,
            epoch=snapshot.epoch,
            end_epoch=max(leader_epoch, snapshot.epoch),
        ),
    ]


def _epoch_before(reader: LogReader, start: int, end: int, place: LogPosition) -> int:
    """Returns the epoch to read with from `start` on; ValueError when that is not possible."""
    if start > end:
        raise ValueError(f"option startingOffset={start}: the range to read ends at {end}")
    instead = reader.position(start, place.leader_epoch).snapshot if start > 0 else place.snapshot
    if instead is None:
        return place.leader_epoch
    if instead.offset != start:
        raise ValueError(
            f"option startingOffset={start}: that part is deleted. Leave it out to begin "
            f"with a snapshot, or begin at {instead.offset}"
        )
    return instead.epoch  # At the start of its log, a leader accepts no other epoch.
