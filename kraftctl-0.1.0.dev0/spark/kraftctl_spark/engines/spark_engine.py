"""The engine of many machines: Spark decides when a batch is due, and its workers run the tasks."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_observer.log_reader import LogReader
from kraftctl_spark.datasource.checkpoint import check_checkpoint
from kraftctl_spark.datasource.query_run import run_session, run_until
from kraftctl_spark.datasource.spark_home import light_spark_home
from kraftctl_spark.datasource.table_stream import batch_writer, spark_tasks, start_query
from kraftctl_spark.engines.engine import IDLE_WAIT_S, Export
from kraftctl_spark.tables.manifest import Position
from kraftctl_spark.tables.output import check_writable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkEngine:
    """A streaming query; its checkpoint is Spark's, and may be removed while nothing runs."""

    def __init__(self, master: str | None, checkpoint: Path) -> None:
        self._master = master
        self._checkpoint = checkpoint

    def check(self, position: Position, reader: LogReader) -> None:
        """Compares the checkpoint with the tables."""
        check_writable(self._checkpoint.absolute(), "the checkpoint")
        check_checkpoint(self._checkpoint, position, reader)

    def run(self, export: Export, stop: threading.Event) -> int:
        """Returns 0 after an orderly end, 1 when the query failed."""

        def query(spark: SparkSession) -> bool:
            exporter = export.exporter(spark_tasks(spark, export.settings))
            schedule = export.schedule
            started = start_query(
                spark,
                batch_writer(exporter, export.after),
                location=export.settings.location,
                cluster_id=export.settings.cluster_id,
                checkpoint=self._checkpoint,
                offsets_per_trigger=schedule.offsets_per_trigger,
                interval=None if schedule.available_now else schedule.interval,
            )
            return run_until(started, stop, IDLE_WAIT_S)

        with light_spark_home():
            return run_session(self._master, query)
