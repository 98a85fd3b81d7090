"""The Spark session of an export, with `format("kraft")` registered."""

from __future__ import annotations

import signal
import threading

from pyspark.sql import SparkSession

from kraftctl_spark.datasource.registration import register_source


def build_session(master: str | None) -> SparkSession:
    """Returns a session with the source registered. Under spark-submit, its configuration has precedence."""
    builder = SparkSession.builder.appName("kraftctl-export").config("spark.sql.session.timeZone", "UTC")
    if master is not None:
        builder = builder.master(master)
    # Spark's progress bar would overwrite log lines.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    on_interrupt = signal.getsignal(signal.SIGINT)
    spark = builder.config("spark.sql.parquet.compression.codec", "zstd").getOrCreate()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, on_interrupt)  # PySpark's own handler ends with a stack trace.
    spark.sparkContext.setLogLevel("ERROR")  # Its warnings are about Spark; failures are logged by the job.
    register_source(spark)
    return spark
