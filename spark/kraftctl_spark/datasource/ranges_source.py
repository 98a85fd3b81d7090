"""`format("kraft-ranges")`: a stream of how far the log is committed, without its records.

Spark plans batches from it. What a batch holds never passes through Spark: the tasks read it themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from kraftctl_spark.datasource.source import KraftDataSource, KraftOffset, KraftStreamReader

_RANGE_SCHEMA = pa.schema([("end", pa.int64()), ("epoch", pa.int32())])


@dataclass
class _Reach(InputPartition):
    """How far a batch reaches: the only row of its only partition."""

    end: int
    epoch: int


class KraftRangesDataSource(KraftDataSource):
    """`format("kraft-ranges")`: how far each batch reaches, instead of what is in it."""

    @classmethod
    def name(cls) -> str:
        return "kraft-ranges"

    def schema(self) -> StructType:
        return StructType([StructField("end", LongType()), StructField("epoch", IntegerType())])

    def reader(self, schema: StructType) -> DataSourceReader:
        raise ValueError(f"{self.name()} is a stream: use spark.readStream")

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _RangesReader(self._options)


class _RangesReader(KraftStreamReader):
    """Asks how far the log is committed, and leaves reading it to the sink's tasks."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        planned = super().partitions(start, end)
        last = KraftOffset.from_dict(end)
        return [_Reach(last.offset, last.epoch)] if planned else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Reach)
        yield pa.RecordBatch.from_pydict(
            {"end": [partition.end], "epoch": [partition.epoch]}, schema=_RANGE_SCHEMA
        )
