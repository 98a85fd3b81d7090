"""Registers `format("kraft")` with a session of any job."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

from kraftctl_spark.datasource.source import KraftDataSource

FILTER_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
PYTHON_SETTINGS = ("spark.pyspark.python", "spark.pyspark.driver.python")


def register_source(spark: SparkSession) -> None:
    """Registers it with workers that run this Python, unless one is configured or the session is not local.

    By default, Spark runs the first `python3` of the PATH, which need not be the one that has this package.
    Nor does it push filters down to sources in Python; here it does, unless that is configured.
    """
    context = spark.sparkContext
    configured = "PYSPARK_PYTHON" in os.environ or any(context.getConf().get(key) for key in PYTHON_SETTINGS)
    if str(context.master).startswith("local") and not configured:
        context.pythonExec = sys.executable
    if spark.conf.get(FILTER_PUSHDOWN, None) is None:
        spark.conf.set(FILTER_PUSHDOWN, "true")
    spark.dataSource.register(KraftDataSource)
