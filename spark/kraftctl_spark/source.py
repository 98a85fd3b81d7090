"""Spark's `format("kraft")`: a stream whose offset is the offset of the metadata log.

Three kinds of process run this: the planner (offsets and partitions), a short-lived one that pickles the
reader, and workers that run `read`. What the planner remembers reaches a worker only through a `LogRange`.

Spark does not guard against sources that go backwards: the checks are here. An offset names its cluster and
the epoch it was committed in, and what does not fit stops the query instead of writing wrong rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from kraftctl_spark.connection import Endpoint
from kraftctl_spark.observer import LogChangedError, OffsetAndEpoch, QuorumObserver, WrongClusterError
from kraftctl_spark.rows import MetadataRows, rows_of_log, rows_of_snapshot
from kraftctl_spark.schema import spark_schema
from kraftctl_spark.wide_rows import encode_wide_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

OFFSET_VERSION = 1
ROWS_PER_ARROW_BATCH = 20_000
"""Spark takes over our batches as they are; 5 to 20 thousand rows keep both sides busy, and a chunk of rows
has about 10 thousand."""
OFFSETS_PER_TRIGGER_DEFAULT = 1_000_000
OFFSETS_PER_PARTITION = 50_000
"""Fixed, so that a planned range is always cut in the same places."""


@dataclass(frozen=True)
class KraftOffset:
    """Where the stream stands: everything before `offset` was read."""

    offset: int
    epoch: int
    """Of the record before `offset`, or a later one in which that was known to be committed."""
    cluster: str
    snapshot: bool = False
    """Whether the step to this offset reads the snapshot that ends here instead of the log."""

    def to_dict(self) -> dict[str, Any]:
        """As Spark keeps it in the checkpoint."""
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
        """ValueError for what `to_dict` did not write."""
        try:
            version, offset, epoch = int(fields["version"]), int(fields["offset"]), int(fields["epoch"])
            cluster, snapshot = str(fields["cluster"]), bool(fields.get("snapshot", False))
        except (KeyError, TypeError) as error:
            raise ValueError(f"not an offset of the kraft source: {json.dumps(dict(fields))}") from error
        if version != OFFSET_VERSION or offset < 0 or epoch < 0:
            raise ValueError(f"not an offset of this release of the kraft source: {json.dumps(dict(fields))}")
        return KraftOffset(offset, epoch, cluster, snapshot)


@dataclass
class LogRange(InputPartition):
    """What one task reads: offsets [start, end) of the log, or the snapshot that ends at `end`."""

    start: int
    end: int
    epoch: int
    cluster: str
    snapshot: bool


@dataclass(frozen=True)
class KraftOptions:
    """The options of `format("kraft")`; Spark hands them over as text with any case of key."""

    bootstrap: tuple[Endpoint, ...]
    cluster_id: str | None
    offsets_per_trigger: int
    timeout_s: float

    @staticmethod
    def parse(options: Mapping[str, str]) -> KraftOptions:
        """ValueError that names the option."""
        given = {key.lower(): value for key, value in options.items()}
        bootstrap = given.get("bootstrapcontrollers")
        if not bootstrap:
            raise ValueError("option bootstrapControllers is needed: host:port, more of them after commas")
        offsets_per_trigger = int(given.get("maxoffsetspertrigger", OFFSETS_PER_TRIGGER_DEFAULT))
        if offsets_per_trigger < 1:
            raise ValueError("option maxOffsetsPerTrigger must be at least 1")
        timeout_s = int(given.get("requesttimeoutms", "60000")) / 1000
        return KraftOptions(
            parse_endpoints(bootstrap), given.get("clusterid") or None, offsets_per_trigger, timeout_s
        )


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """`host:port,[::1]:port` as pairs; ValueError for anything else."""
    endpoints: list[Endpoint] = []
    for part in text.split(","):
        host, colon, port = part.strip().rpartition(":")
        if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ValueError(f"expected host:port but got {part.strip()!r}")
        endpoints.append((host.removeprefix("[").removesuffix("]"), int(port)))
    return tuple(endpoints)


class KraftDataSource(DataSource):
    """Registered by `spark.dataSource.register(KraftDataSource)`."""

    @classmethod
    def name(cls) -> str:
        return "kraft"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._options = KraftOptions.parse(options)

    def schema(self) -> StructType:
        return spark_schema()

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return KraftStreamReader(self._options)


class KraftStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans ranges of committed offsets and reads them."""

    def __init__(self, options: KraftOptions) -> None:
        self._options = options
        self._observer: QuorumObserver | None = None
        self._target: int | None = None
        """With Trigger.AvailableNow: the high watermark when the query started."""

    def __getstate__(self) -> dict[str, Any]:
        """A connection stays in the process that made it."""
        return {**self.__dict__, "_observer": None}

    def initialOffset(self) -> dict[str, Any]:
        return KraftOffset(0, 0, self._quorum().cluster_id()).to_dict()

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._options.offsets_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._quorum().position(0, 0).high_watermark

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """The end of the next range; `start` itself when there is nothing new."""
        at = self._checked(start)
        position = self._quorum().position(at.offset, at.epoch)
        if position.snapshot is not None:
            return KraftOffset(position.snapshot.offset, position.snapshot.epoch, at.cluster, True).to_dict()
        if position.high_watermark < at.offset:
            raise LogChangedError(
                f"the committed log ends at {position.high_watermark}, but was read up to {at.offset} before"
            )
        end = position.high_watermark if self._target is None else min(position.high_watermark, self._target)
        end = min(end, at.offset + _rows_max(limit))
        if end <= at.offset:
            return start
        epoch = self._quorum().epoch_of(end - 1)
        return KraftOffset(end, position.leader_epoch if epoch is None else epoch, at.cluster).to_dict()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Depends on nothing but its arguments: a planned batch is read again after a restart."""
        first, last = self._checked(start), self._checked(end)
        if last.offset < first.offset or last.epoch < first.epoch:
            raise LogChangedError(f"the stream would go backwards, from {first} to {last}")
        if last.offset == first.offset:
            return []
        if last.snapshot:
            return [LogRange(first.offset, last.offset, last.epoch, last.cluster, True)]
        ranges: list[InputPartition] = []
        for offset in range(first.offset, last.offset, OFFSETS_PER_PARTITION):
            end_offset = min(offset + OFFSETS_PER_PARTITION, last.offset)
            epoch = first.epoch if offset == first.offset else last.epoch
            ranges.append(LogRange(offset, end_offset, epoch, last.cluster, False))
        return ranges

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, LogRange)
        observer = self._new_observer(partition.cluster)
        try:
            for rows in _rows(observer, partition):
                encoded = encode_wide_rows(rows)
                for first in range(0, len(rows), ROWS_PER_ARROW_BATCH):
                    yield encoded.slice(first, ROWS_PER_ARROW_BATCH)
        finally:
            observer.close()

    def commit(self, end: dict[str, Any]) -> None:
        """Nothing to do: the quorum keeps no state about its observers."""

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.close()
            self._observer = None

    def _checked(self, fields: dict[str, Any]) -> KraftOffset:
        offset = KraftOffset.from_dict(fields)
        expected = self._quorum().cluster_id()
        if offset.cluster != expected:
            raise WrongClusterError(
                f"the checkpoint belongs to cluster {offset.cluster}, but the controllers to {expected}"
            )
        return offset

    def _quorum(self) -> QuorumObserver:
        if self._observer is None:
            self._observer = self._new_observer(self._options.cluster_id)
        return self._observer

    def _new_observer(self, cluster_id: str | None) -> QuorumObserver:
        return QuorumObserver(
            list(self._options.bootstrap), cluster_id=cluster_id, timeout_s=self._options.timeout_s
        )


def _rows_max(limit: ReadLimit) -> int:
    """Spark only ever asks for all or for what `getDefaultReadLimit` said."""
    if isinstance(limit, ReadMaxRows):
        return max(1, limit.max_rows)
    assert isinstance(limit, ReadAllAvailable)
    return 2**63 - 1


def _rows(observer: QuorumObserver, wanted: LogRange) -> Iterator[MetadataRows]:
    if wanted.snapshot:
        return rows_of_snapshot(observer.read_snapshot(OffsetAndEpoch(wanted.end, wanted.epoch)), wanted.end)
    return rows_of_log(observer.read(wanted.start, wanted.epoch, wanted.end), wanted.start, wanted.end)
