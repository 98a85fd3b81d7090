"""Prints what Spark reads with `format("kraft")`, as JSON: offsets of rows, and the progress of a stream.

python -m tests.spark.spark_reads '{"directory": "..."}' '{"bootstrapControllers": "..."}' ...
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kraftctl_spark.datasource.spark_home import light_spark_home
from kraftctl_spark.datasource.spark_session import build_session


def read(spark: SparkSession, options: dict[str, str]) -> list[int] | str:
    """Offsets in order, or the error in the options."""
    try:
        rows = spark.read.format("kraft").options(**options).load().select("offset").collect()
    except PySparkException as error:
        return str(error)
    return sorted(row["offset"] for row in rows)


def stream(spark: SparkSession, options: dict[str, str]) -> list[dict[str, Any]]:
    """Start, end and latest offset of each batch with rows."""
    source = spark.readStream.format("kraft").options(**options).load()
    query = source.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination(60)
    found = []
    for progress in query.recentProgress:
        if progress["numInputRows"]:
            reported = progress["sources"][0]
            names = ("startOffset", "endOffset", "latestOffset")
            found.append({name: json.loads(reported[name]) for name in names})
    return found


def main(arguments: list[str]) -> None:
    with light_spark_home():
        spark = build_session("local[2]")
        try:
            options = [json.loads(argument) for argument in arguments]
            found = {"read": [read(spark, each) for each in options], "stream": stream(spark, options[0])}
            print(json.dumps(found))
        finally:
            spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
