"""Spark's `format("kraft")`: a stream whose offset is the offset of the metadata log.

Three kinds of process run this: the planner (offsets and partitions), a short-lived one that pickles the
reader, and workers that run `read`. A worker only knows what is in its `RangePartition`.

Spark does not check that a source never goes backwards, so this module does. An offset contains its cluster
and the epoch in which it was committed; a mismatch stops the query before it writes wrong rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from kraftctl_observer.log_reader import LogChangedError, LogReader, WrongClusterError
from kraftctl_spark.datasource.batch_source import batch_reader
from kraftctl_spark.datasource.plain_errors import without_traceback
from kraftctl_spark.datasource.range_partition import batches_of_partition, partitions_of
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.datasource.spark_schema import spark_schema
from kraftctl_spark.log.batch_end import batch_end
from kraftctl_spark.log.log_range import LogRange, cut_into_ranges

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

OFFSET_VERSION = 1


@dataclass(frozen=True)
class KraftOffset:
    """The position of the stream: everything before `offset` was read."""

    offset: int
    epoch: int
    """The epoch of the record before `offset`, or a later one in which that record was known to be
    committed."""
    cluster: str
    snapshot: bool = False
    """Whether the batch that ends here reads the snapshot that ends here, instead of the log."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the offset as Spark stores it in the checkpoint."""
        fields: dict[str, Any] = {
            "version": OFFSET_VERSION,
            "offset": self.offset,
            "epoch": self.epoch,
            "cluster": self.cluster,
        }
        if self.snapshot:
            fields["snapshot"] = True
        return fields

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> KraftOffset:
        """Reads the result of `to_dict`; ValueError for anything else."""
        try:
            version, offset, epoch = int(fields["version"]), int(fields["offset"]), int(fields["epoch"])
            cluster, snapshot = str(fields["cluster"]), bool(fields.get("snapshot", False))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not an offset of the kraft source: {json.dumps(dict(fields))}") from error
        if version != OFFSET_VERSION or offset < 0 or epoch < 0:
            raise ValueError(f"not an offset of this release of the kraft source: {json.dumps(dict(fields))}")
        return KraftOffset(offset, epoch, cluster, snapshot)


class KraftDataSource(DataSource):
    """The source, which `spark.dataSource.register(KraftDataSource)` registers."""

    @classmethod
    def name(cls) -> str:
        return "kraft"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        with without_traceback():
            self._options = KraftOptions.parse(options)

    def schema(self) -> StructType:
        return spark_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        return batch_reader(self._options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        if (self._options.starting_offset, self._options.ending_offset) != (None, None):
            raise ValueError(
                "the options startingOffset and endingOffset are for spark.read: a stream starts with the "
                "log and continues where its checkpoint ends"
            )
        return KraftStreamReader(self._options)


class KraftStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans ranges of committed offsets and reads them."""

    def __init__(self, options: KraftOptions) -> None:
        self._options = options
        self._reader: LogReader | None = None
        self._target: int | None = None
        """The high watermark when the query started, with Trigger.AvailableNow."""
        self._latest: KraftOffset | None = None
        """The end of the committed log when the last batch was planned."""

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out the connection, which stays in the process that opened it."""
        return {**self.__dict__, "_reader": None}

    def initialOffset(self) -> dict[str, Any]:
        return KraftOffset(0, 0, self._log().cluster_id()).to_dict()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.offsets_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._log().position(0, 0).high_watermark

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Returns the end of the next batch; `start` itself when there is nothing new."""
        at = self._checked(start)
        end = batch_end(self._log(), at.offset, at.epoch, offsets_max=_rows_max(limit), target=self._target)
        self._latest = KraftOffset(end.high_watermark, end.leader_epoch, at.cluster)
        return KraftOffset(end.offset, end.epoch, at.cluster, end.snapshot).to_dict() if end.is_new else start

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """Returns the end, which Spark's progress shows beside that of the batch; the difference is the
        lag.
        """
        return None if self._latest is None else self._latest.to_dict()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Returns partitions that depend only on the arguments: a planned batch is read again after a
        restart.
        """
        first, last = self._checked(start), self._checked(end)
        if last.offset < first.offset or last.epoch < first.epoch:
            raise LogChangedError(f"the stream would go backwards, from {first} to {last}")
        if last.offset == first.offset:
            return []
        if last.snapshot:
            ranges = [LogRange(first.offset, last.offset, last.epoch, snapshot=True)]
        else:
            ranges = cut_into_ranges(
                start=first.offset, end=last.offset, epoch=first.epoch, end_epoch=last.epoch
            )
        return partitions_of(ranges, last.cluster)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return batches_of_partition(self._options.location, partition)

    def commit(self, end: dict[str, Any]) -> None:
        """Does nothing: the quorum keeps no state about its observers."""

    def stop(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _checked(self, fields: dict[str, Any]) -> KraftOffset:
        offset = KraftOffset.from_dict(fields)
        expected = self._log().cluster_id()
        if offset.cluster != expected:
            raise WrongClusterError(
                f"the checkpoint belongs to cluster {offset.cluster}, but the log to {expected}"
            )
        return offset

    def _log(self) -> LogReader:
        if self._reader is None:
            self._reader = self._options.location.open(self._options.cluster_id)
        return self._reader


def _rows_max(limit: ReadLimit) -> int:
    """Returns the limit; Spark passes only ReadAllAvailable or the result of `getDefaultReadLimit`."""
    if isinstance(limit, ReadMaxRows):
        return max(1, limit.max_rows)
    assert isinstance(limit, ReadAllAvailable)
    return 2**63 - 1
