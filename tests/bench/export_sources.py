"""Data sources that hand Spark the same rows as Arrow batches or as tuples, ready or decoded while reading.

Pickled by value, since Spark's workers do not have the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadMaxRows

from kraftctl_observer.observer import QuorumObserver
from kraftctl_spark.datasource.range_partition import RangePartition
from kraftctl_spark.datasource.source import KraftDataSource
from kraftctl_spark.datasource.spark_schema import spark_schema
from kraftctl_spark.datasource.wide_rows import encode_wide_rows
from kraftctl_spark.log.log_location import parse_endpoints
from kraftctl_spark.rows.log_rows import rows_of_log, rows_of_range
from kraftctl_spark.rows.schema import COMMON_FIELDS, arrow_schema
from tests.bench.export_log import EPOCH
from tests.support.metadata_row import row_list

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class ReadyRowsDataSource(DataSource):
    """`ready-rows`: the rows in the file `batch`, `times` times in each of two partitions."""

    @classmethod
    def name(cls) -> str:
        return "ready-rows"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._file, self._times = options["batch"], int(options["times"])
        self._tuples = options["as"] == "tuples"

    def schema(self) -> StructType:
        return spark_schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        return ReadyRowsReader(self._file, self._times, self._tuples)


class ReadyRowsReader(DataSourceReader):
    def __init__(self, file: str, times: int, tuples: bool) -> None:
        self._file, self._times, self._tuples = file, times, tuples

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(0), InputPartition(1)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        (batch,) = pa.ipc.open_file(pa.memory_map(self._file)).read_all().to_batches()
        if not self._tuples:
            yield from [batch] * self._times
            return
        rows = list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        for _ in range(self._times):
            yield from rows


class DecodedRowsDataSource(KraftDataSource):
    """`decoded-rows`: the first `count` records of a log as the exporter reads them, or one by one."""

    @classmethod
    def name(cls) -> str:
        return "decoded-rows"

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._count, self._tuples = int(options["count"]), options["as"] == "tuples"
        self._bootstrap = options["bootstrapControllers"]

    def reader(self, schema: StructType) -> DataSourceReader:
        stream = self.streamReader(schema=schema)
        return DecodedRowsReader(stream, self._count, self._bootstrap if self._tuples else None)


class DecodedRowsReader(DataSourceReader):
    def __init__(self, stream: DataSourceStreamReader, count: int, tuples_from: str | None) -> None:
        self._stream, self._count, self._tuples_from = stream, count, tuples_from

    def partitions(self) -> Sequence[InputPartition]:
        start = self._stream.initialOffset()
        end = self._stream.latestOffset(start, ReadMaxRows(self._count))
        planned = self._stream.partitions(start, end)
        self._stream.stop()
        return planned

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if self._tuples_from is None:
            return self._stream.read(partition)
        assert isinstance(partition, RangePartition)
        return tuples_of_log(self._tuples_from, partition)


def tuples_of_log(bootstrap: str, partition: RangePartition) -> Iterator[tuple[Any, ...]]:
    """What a source without Arrow would do: a record, its fields, a tuple."""
    names = arrow_schema().names[len(COMMON_FIELDS) :]
    observer = QuorumObserver(list(parse_endpoints(bootstrap)), cluster_id=partition.cluster)
    for chunk in rows_of_range(observer, partition.range):
        for row in row_list(chunk):
            yield (
                row.offset,
                row.epoch,
                datetime.fromtimestamp(row.timestamp_ms / 1000, UTC),
                row.type,
                row.type_id,
                row.version,
                row.is_control,
                row.payload,
                row.snapshot_end_offset,
                row.snapshot_index,
                partition.cluster,
                *(row.value if name == row.column else None for name in names),
            )
    observer.close()


def ready_batch(bootstrap: str, cluster_id: str, first_offset: int, rows: int) -> pa.RecordBatch:
    """A batch of `format("kraft")`."""
    observer = QuorumObserver(list(parse_endpoints(bootstrap)), cluster_id=cluster_id)
    end = first_offset + rows
    batches = observer.read(first_offset, EPOCH, end)
    chunks = [encode_wide_rows(chunk, cluster_id) for chunk in rows_of_log(batches, first_offset, end)]
    observer.close()
    return pa.Table.from_batches(chunks).combine_chunks().to_batches()[0]


def write_batch(batch: pa.RecordBatch, path: Path) -> None:
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
