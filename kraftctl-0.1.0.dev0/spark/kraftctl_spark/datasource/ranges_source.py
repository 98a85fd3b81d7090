"""`format("kraft-ranges")` is a stream of how far the log is committed, without its records.

Spark plans batches from it. The records of a batch never pass through Spark: the tasks read them.
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
class _BatchEnd(InputPartition):
    """The end of a batch, which has one partition with one row."""

    end: int
    epoch: int


class KraftRangesDataSource(KraftDataSource):
    """Implements `format("kraft-ranges")`: the end of each batch instead of its records."""

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
    """Plans how far the log is committed; the tasks of the export read it."""

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        planned = super().partitions(start, end)
        last = KraftOffset.from_dict(end)
        return [_BatchEnd(last.offset, last.epoch)] if planned else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _BatchEnd)
        yield pa.RecordBatch.from_pydict(
            {"end": [partition.end], "epoch": [partition.epoch]}, schema=_RANGE_SCHEMA
        )
