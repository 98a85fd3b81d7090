"""`kraftctl-export report`: one HTML page of plots about the cluster's history."""

from __future__ import annotations

import argparse
import logging
import time
from typing import TYPE_CHECKING

from kraftctl_spark.commands.master_flag import add_master
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kraftctl_spark.tables.durable import Hook
    from kraftctl_spark.tables.manifest import Output

NEEDED = ("pyspark", "pyarrow", "plotly")
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
FEW_RECORDS = 200_000
FEW_RECORDS_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""With few records, Spark's and the JVM's optimizations take longer than the work itself."""

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", required=True, type=path_flag, help="directory of the tables, as given to run"
    )
    parser.add_argument("--to", required=True, type=path_flag, help="the HTML file to write")
    parser.add_argument("--from", dest="from_time", metavar="TIME", help="2026-11-21T12:00:00Z [everything]")
    parser.add_argument("--until", metavar="TIME", help="the same; exclusive")
    add_master(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Exit code; ExportRefusedError for a directory without tables, or invalid times."""
    from kraftctl_spark.report.page import render
    from kraftctl_spark.report.period import shown_time
    from kraftctl_spark.report.queries import fetch
    from kraftctl_spark.tables.durable import write_whole
    from kraftctl_spark.tables.manifest import ExportRefusedError, Output

    began = time.monotonic()
    from_ms, until_ms = _time(options, "from_time"), _time(options, "until")
    output = Output(options.output)
    output.check_exists()
    if options.to.is_dir() or not options.to.absolute().parent.is_dir():
        raise ExportRefusedError(f"--to {options.to}: name a file in a directory that exists")
    spark = _session(options.master, _settings(output))
    try:
        with output.undisturbed():
            contents = fetch(spark, options.output, from_ms, until_ms)
    finally:
        spark.stop()
    page = render(contents, f"made by kraftctl-export at {shown_time(int(time.time() * 1000))} UTC").encode()
    write_whole(options.to.absolute(), page, hook)
    log.info("wrote %s: %.1f MB in %.1f s", options.to, len(page) / 1e6, time.monotonic() - began)
    return 0


def _time(options: argparse.Namespace, name: str) -> int | None:
    from kraftctl_spark.report.period import parse_time
    from kraftctl_spark.tables.manifest import ExportRefusedError

    text = getattr(options, name)
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        raise ExportRefusedError(f"--{name.removesuffix('_time')}: {error}") from error


def _session(master: str | None, settings: dict[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("kraftctl-export report")
    if master is not None:
        builder = builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _settings(output: Output) -> dict[str, str]:
    records = sum(manifest.counts["records"] for manifest in output.manifests())
    return SETTINGS | (FEW_RECORDS_SETTINGS if records <= FEW_RECORDS else {})
