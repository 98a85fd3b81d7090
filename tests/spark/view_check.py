"""Compares the state views with a replay by Kafka's own MetadataImage."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from kraftctl_spark.views import state_at
from tests.spark.compared_rows import compare_rows
from tests.support.processes.kafka import run_java_source
from tests.support.processes.spark_export import SPARK_ARGUMENTS

REPLAY = Path(__file__).parent / "MetadataReplay.java"
QUICK = {
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.maxPlanStringLength": "0",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.sources.useV1SourceList": "parquet",
}
"""For a hundred queries on very little data: optimizations for much data take longer than the query."""


@contextmanager
def local_spark() -> Iterator[SparkSession]:
    """A session for small data. Its JVM stays for later tests in this process."""
    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    os.environ["PYSPARK_SUBMIT_ARGS"] = SPARK_ARGUMENTS
    try:
        builder = SparkSession.builder.master("local[2]")
        for name, value in QUICK.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    finally:
        if before is None:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = before
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def kafka_states(
    values: Mapping[int, bytes], offsets: Iterable[int], scratch: Path
) -> dict[int, dict[str, Any]]:
    """The state at each offset, in order, as Kafka computes it from the records that have an effect."""
    wanted = dict.fromkeys(offsets)
    lines: list[str] = []
    for offset in sorted({*wanted, *values}):
        if offset in values:
            lines.append(f"record {offset} {values[offset].hex()}")
        if offset in wanted:
            lines.append(f"print {offset}")
    scratch.write_text("\n".join(lines))
    printed = run_java_source(REPLAY, str(scratch), version="4.4.0")
    printed_states = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    states = {int(state.pop("name")): state for state in printed_states}
    return {offset: states[offset] for offset in wanted}


def compare_state(
    spark: SparkSession,
    directory: Path,
    expected: Mapping[str, list[dict[str, Any]]],
    *,
    history: Path | None = None,
    offset: int | None = None,
    time: str | None = None,
) -> None:
    """AssertionError that names the point, the view and the rows that differ."""
    views = state_at(spark, directory, offset=offset, time=time, history=history)
    assert set(views) == set(expected)
    for name, rows in expected.items():
        found = [row.asDict(True) for row in views[name].collect()]
        compare_rows(f"{name} as of {offset or time}", found, rows)


def view_rows(spark: SparkSession, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """All rows of registered views, by name."""
    return {name: [row.asDict(True) for row in spark.table(name).collect()] for name in names}
