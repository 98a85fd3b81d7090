"""The export job: a quorum's committed metadata, appended to a directory of Parquet files.

    python -m kraftctl_spark.datasource.wide_export --bootstrap-controllers host:port --output DIR
        [--available-now]

Runs until SIGTERM or SIGINT, or with --available-now until it has caught up. A batch that was cut short is
done again at the next start, from the checkpoint; Spark's list of files (`_spark_metadata`) then leaves out
what the first try may have written.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.commands.stream_flags import add_stream_flags
from kraftctl_spark.datasource.source import KraftDataSource
from kraftctl_spark.datasource.source_options import OFFSETS_PER_TRIGGER_DEFAULT
from kraftctl_spark.log.failure_cause import cause_of
from kraftctl_spark.tables.manifest import MANIFESTS, ExportRefusedError
from kraftctl_spark.tables.spark_home import light_spark_home

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

POLL_S = 1
IDLE_WAIT_S = 60.0
"""How long an orderly stop waits for the batch that is being written."""

LineOfProgress = Callable[[Mapping[str, Any]], str | None]

log = logging.getLogger("kraftctl_spark.datasource.wide_export")


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 after an orderly end, 1 when the query failed, 2 when it was refused."""
    options = _parse(arguments)
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)")
    stop = stop_on_signals()
    try:
        check_output(options.output, options.checkpoint)
    except ExportRefusedError as error:
        log.error("%s", error)
        return 2
    with light_spark_home():
        spark = build_session(options.master)
        try:
            return 0 if run_until(start_query(spark, options), stop, progress_line) else 1
        finally:
            spark.stop()


def stop_on_signals() -> threading.Event:
    """Set by SIGTERM and SIGINT, which then ask for an orderly end."""
    stop = threading.Event()

    def on_signal(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m kraftctl_spark.datasource.wide_export", description=__doc__.splitlines()[0]
    )
    add_location_flags(parser)
    parser.add_argument("--output", required=True, type=Path, help="directory of the Parquet files")
    add_stream_flags(parser, "10 seconds", OFFSETS_PER_TRIGGER_DEFAULT)
    options = parser.parse_args(arguments)
    try:
        options.location = location_of(options)
    except ValueError as error:
        parser.error(str(error))
    if options.checkpoint is None:
        options.checkpoint = options.output / "_checkpoint"
    return options


def check_output(output: Path, checkpoint: Path) -> None:
    """Refuses a directory that has rows without the checkpoint that says how far they go, and the reverse.

    Without its checkpoint a query counts its batches from 0 again, and Spark's file sink silently drops every
    batch whose number it has seen.
    """
    if (output / MANIFESTS).exists():
        raise ExportRefusedError(f"{output} holds tables of kraftctl-export: choose another directory")
    has_rows = (output / "_spark_metadata").exists()
    has_progress = _has_files(checkpoint / "commits")
    if has_rows and not _has_files(checkpoint / "offsets"):
        raise ExportRefusedError(
            f"{output} holds an export, but its checkpoint {checkpoint} is gone: choose a new directory"
        )
    if has_progress and not has_rows:
        raise ExportRefusedError(
            f"{checkpoint} says that rows were written, but {output} does not hold them: remove it"
        )


def _has_files(directory: Path) -> bool:
    return directory.is_dir() and any(entry.name.isdecimal() for entry in directory.iterdir())


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


def start_query(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    """The running query."""
    reader = (
        spark.readStream.format("kraft")
        .options(**options.location.options())
        .option("maxOffsetsPerTrigger", options.max_offsets_per_trigger)
    )
    if options.cluster_id is not None:
        reader = reader.option("clusterId", options.cluster_id)
    writer = (
        reader.load()
        .writeStream.format("parquet")
        .option("path", str(options.output))
        .option("checkpointLocation", str(options.checkpoint))
        .queryName("kraftctl-export")
    )
    if options.available_now:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=options.interval).start()


def run_until(query: StreamingQuery, stop: threading.Event, line_of: LineOfProgress | None = None) -> bool:
    """Waits for the end of the query or for `stop`; False when the query failed.

    `line_of` makes a line to log of Spark's progress, or None; a batch may come too fast to be told of.
    """
    told: str | None = None
    while not stop.is_set() and not _ends_within(query, POLL_S):
        told = _tell_progress(query, line_of, told)
    if query.isActive:
        log.info("stopping after the batch that is being written")
        _await_idle(query)
        query.stop()
    failure = query.exception()
    if failure is not None:
        log.error("the query failed: %s", failure)
        log.error("the export ends because of %s", cause_of(str(failure)))
        return False
    _tell_progress(query, line_of, told)
    progress = query.lastProgress
    log.info("stopped; last batch: %s", "none" if progress is None else progress["batchId"])
    return True


def _ends_within(query: StreamingQuery, wait_s: int) -> bool:
    """Returns as soon as it has ended, and does not say how."""
    try:
        return bool(query.awaitTermination(wait_s))
    except StreamingQueryException:
        return True


def _tell_progress(query: StreamingQuery, line_of: LineOfProgress | None, told: str | None) -> str | None:
    """What was told last."""
    progress = query.lastProgress
    line = None if progress is None or line_of is None else line_of(progress)
    if line is not None and line != told:
        log.info("%s", line)
    return line or told


def progress_line(progress: Mapping[str, Any]) -> str | None:
    """What Spark says of a batch of `format("kraft")`; None if it had nothing to do."""
    source = progress["sources"][0]
    end, latest = (json.loads(source.get(name) or "null") for name in ("endOffset", "latestOffset"))
    if not progress["numInputRows"] or not end or not latest:
        return None
    return (
        f"batch {progress['batchId']}: {progress['numInputRows']} records up to offset {end['offset'] - 1}, "
        f"{progress['processedRowsPerSecond']:.0f} records/s; lag {latest['offset'] - end['offset']} records"
    )


def _await_idle(query: StreamingQuery) -> None:
    pause = threading.Event()
    waited_s = 0.0
    while query.isActive and query.status["isTriggerActive"] and waited_s < IDLE_WAIT_S:
        pause.wait(0.1)
        waited_s += 0.1


if __name__ == "__main__":
    sys.exit(main())
