"""Reads tables with the Spark of its process, and writes what it finds: `JARS CATALOG NAMES PLACE`.

It imports nothing of ours: the Spark is another one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

DELTA = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
ICEBERG = "org.apache.iceberg.spark.SparkCatalog"


def main(jars: str, uri: str, tables: dict[str, str], found: Path) -> None:
    """Each table of the catalog at `uri`, and of the directory that has it in Delta's format."""
    builder = SparkSession.builder.master("local[1]")
    for name, value in {
        "spark.jars": jars,
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": DELTA,
        "spark.sql.catalog.lake": ICEBERG,
        "spark.sql.catalog.lake.type": "rest",
        "spark.sql.catalog.lake.uri": uri,
        "spark.databricks.delta.snapshotPartitions": "1",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for name, directory in tables.items():
        pq.write_table(spark.table(f"lake.kraft.{name}").toArrow(), found / f"{name}.iceberg")
        pq.write_table(spark.read.format("delta").load(directory).toArrow(), found / f"{name}.delta")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), Path(sys.argv[4]))
