"""The streaming query behind the typed tables: Spark plans and retries, tasks write, the driver commits.

The source only gives ranges of offsets, never a record. Spark's checkpoint says when a batch is due and how
far it reaches; what is in the tables already is for the manifests to say.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition

from kraftctl_spark.datasource.source import KraftDataSource, KraftOffset, KraftStreamReader
from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.log.log_range import LogRange
from kraftctl_spark.log.log_reader import LogReader
from kraftctl_spark.rows.metadata_rows import rows_of_log
from kraftctl_spark.rows.transactions import BEGIN
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter, TaskRunner
from kraftctl_spark.tables.manifest import ExportRefusedError, Position

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

TASKS_PER_CORE = 4

Given = TypeVar("Given")
Done = TypeVar("Done")

_RANGE_SCHEMA = pa.schema([("end", pa.int64()), ("epoch", pa.int32())])


class KraftRangesDataSource(KraftDataSource):
    """`format("kraft-ranges")`: how far each batch reaches, instead of what is in it."""

    @classmethod
    def name(cls) -> str:
        return "kraft-ranges"

    def schema(self) -> StructType:
        from pyspark.sql.types import IntegerType, LongType, StructField, StructType

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
        return [LogRange(0, last.offset, last.epoch, last.cluster, False)] if planned else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, LogRange)
        yield pa.RecordBatch.from_pydict(
            {"end": [partition.end], "epoch": [partition.epoch]}, schema=_RANGE_SCHEMA
        )


def batch_writer(exporter: Exporter, after: Callable[[], None]) -> Callable[[DataFrame, int], None]:
    """For `foreachBatch`; `after` is called when the manifests of a batch are there."""

    def write_batch(ranges: DataFrame, batch_id: int) -> None:
        for reach in sorted(ranges.collect(), key=lambda row: int(row["end"])):
            exporter.export_to(int(reach["end"]), int(reach["epoch"]))
        after()

    return write_batch


def start_query(
    spark: SparkSession,
    write_batch: Callable[[DataFrame, int], None],
    options: argparse.Namespace,
    location: LogLocation,
    checkpoint: Path,
    cluster_id: str,
) -> StreamingQuery:
    """The running query."""
    spark.dataSource.register(KraftRangesDataSource)
    writer = (
        spark.readStream.format(KraftRangesDataSource.name())
        .options(**location.options())
        .option("clusterId", cluster_id)
        .option("maxOffsetsPerTrigger", options.max_offsets_per_trigger)
        .load()
        .writeStream.foreachBatch(write_batch)
        .option("checkpointLocation", str(checkpoint))
        .queryName("kraftctl-export")
    )
    if options.available_now:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=options.interval).start()


def spark_tasks(spark: SparkSession, settings: TaskSettings) -> TaskRunner:
    """Runs tasks as Spark's. The package must be installed where they run."""

    def run(tasks: list[ExportTask]) -> list[TaskReport]:
        return map_in_tasks(spark, lambda task: run_task(settings, task), tasks)

    return run


def map_in_tasks(spark: SparkSession, function: Callable[[Given], Done], items: list[Given]) -> list[Done]:
    """`function` of every item, in order, done by Spark's tasks.

    To start one of these takes Spark and its Python worker as long as to write tens of thousands of rows: if
    there are many items, each does several. There are a few for every core, lest one core waits for another.
    """
    context = spark.sparkContext
    tasks = min(len(items), TASKS_PER_CORE * context.defaultParallelism)
    return list(context.parallelize(items, tasks).map(function).collect())


def last_committed(checkpoint: Path) -> KraftOffset | None:
    """How far the last batch reached that Spark took as done; None for a new checkpoint."""
    commits = checkpoint / "commits"
    done = [int(path.name) for path in commits.iterdir() if path.name.isdecimal()] if commits.is_dir() else []
    if not done:
        return None
    planned = checkpoint / "offsets" / str(max(done))
    try:
        return KraftOffset.from_dict(json.loads(planned.read_text().splitlines()[2]))
    except (OSError, IndexError, ValueError) as error:
        raise ExportRefusedError(
            f"{checkpoint} cannot be understood ({error}): remove it, the tables know how far they go"
        ) from error


def check_checkpoint(checkpoint: Path, position: Position, reader: LogReader) -> None:
    """Refuses a checkpoint of other tables, or of tables that have lost their end since.

    A checkpoint that is behind, or gone, is no problem: what is in the tables is not written again.
    """
    done = last_committed(checkpoint)
    if done is None:
        return
    if done.cluster != reader.cluster_id():
        raise ExportRefusedError(
            f"{checkpoint} belongs to cluster {done.cluster}, but the log to "
            f"{reader.cluster_id()}: name the right controllers, or another checkpoint directory"
        )
    if done.offset > position.offset and not _begins_transaction(position, done.offset, reader):
        raise ExportRefusedError(
            f"{checkpoint} says that everything before offset {done.offset} was written, but the tables end "
            f"at {position.offset}: if this is the right output directory, and it has lost files, remove the "
            f"checkpoint; the export then goes on at {position.offset}"
        )


def _begins_transaction(position: Position, end: int, reader: LogReader) -> bool:
    """Whether the tables end there on purpose: before a transaction that was open."""
    place = reader.position(position.offset, position.epoch)
    if place.snapshot is not None or place.high_watermark <= position.offset:
        return False
    last = min(end, position.offset + 1)
    batches = reader.read(position.offset, position.epoch, last)
    return any(BEGIN in rows.types for rows in rows_of_log(batches, position.offset, last))
