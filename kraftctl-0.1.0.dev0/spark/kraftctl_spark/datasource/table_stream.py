"""The streaming query behind the typed tables: Spark plans and retries, tasks write, the driver commits.

The source returns only how far the log is committed, never a record. Spark's checkpoint says when a batch is
due and where it ends; the manifests say what is already in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kraftctl_spark.datasource.ranges_source import KraftRangesDataSource
from kraftctl_spark.log.log_location import LogLocation
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter, TaskRunner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

TASKS_PER_CORE = 4

Given = TypeVar("Given")
Done = TypeVar("Done")


def batch_writer(exporter: Exporter, after: Iterable[Callable[[], None]]) -> Callable[[DataFrame, int], None]:
    """Returns a function for `foreachBatch`; `after` is called when the manifests of a batch are
    committed.
    """

    def write_batch(ranges: DataFrame, batch_id: int) -> None:
        for reach in sorted(ranges.collect(), key=lambda row: int(row["end"])):
            exporter.export_to(int(reach["end"]), int(reach["epoch"]))
        for work in after:
            work()

    return write_batch


def start_query(
    spark: SparkSession,
    write_batch: Callable[[DataFrame, int], None],
    *,
    location: LogLocation,
    cluster_id: str,
    checkpoint: Path,
    offsets_per_trigger: int,
    interval: str | None,
) -> StreamingQuery:
    """Starts the query and returns it; without an interval, it ends when it has caught up."""
    spark.dataSource.register(KraftRangesDataSource)
    writer = (
        spark.readStream.format(KraftRangesDataSource.name())
        .options(**location.options())
        .option("clusterId", cluster_id)
        .option("maxOffsetsPerTrigger", offsets_per_trigger)
        .load()
        .writeStream.foreachBatch(write_batch)
        .option("checkpointLocation", str(checkpoint))
        .queryName("kraftctl-export")
    )
    due = writer.trigger(availableNow=True) if interval is None else writer.trigger(processingTime=interval)
    return due.start()


def spark_tasks(spark: SparkSession, settings: TaskSettings) -> TaskRunner:
    """Runs tasks in Spark's tasks. The package must be installed where they run."""

    def run(tasks: list[ExportTask]) -> list[TaskReport]:
        return map_in_tasks(spark, lambda task: run_task(settings, task), tasks)

    return run


def map_in_tasks(spark: SparkSession, function: Callable[[Given], Done], items: list[Given]) -> list[Done]:
    """Applies `function` to every item, in order, computed by Spark's tasks.

    Starting a task takes Spark and its Python worker as long as writing tens of thousands of rows: when
    there are many items, each task processes several. A few tasks per core keep all cores busy.
    """
    context = spark.sparkContext
    tasks = min(len(items), TASKS_PER_CORE * context.defaultParallelism)
    return list(context.parallelize(items, tasks).map(function).collect())
