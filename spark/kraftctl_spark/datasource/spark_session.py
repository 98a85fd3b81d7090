"""The Spark session of an export, in which `format("kraft")` is known."""

from __future__ import annotations

import signal
import threading

from pyspark.sql import SparkSession

from kraftctl_spark.datasource.source import KraftDataSource


def build_session(master: str | None) -> SparkSession:
    """A session that knows the source. Under spark-submit, what was configured there wins."""
    builder = SparkSession.builder.appName("kraftctl-export").config("spark.sql.session.timeZone", "UTC")
    if master is not None:
        builder = builder.master(master)
    # A progress bar of Spark's would overwrite the lines of the log.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    on_interrupt = signal.getsignal(signal.SIGINT)
    spark = builder.config("spark.sql.parquet.compression.codec", "zstd").getOrCreate()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, on_interrupt)  # PySpark puts its own there, which ends in a trace.
    spark.dataSource.register(KraftDataSource)
    return spark
