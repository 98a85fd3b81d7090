"""`kraftctl-export run` writes committed records as typed tables, continuously."""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.commands.compact import MS_PER_MINUTE, add_grace_minutes
from kraftctl_spark.commands.history import DIRECTORY as HISTORY_DIRECTORY
from kraftctl_spark.commands.history import RegularHistory
from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.commands.stream_flags import add_stream_flags, schedule_of
from kraftctl_spark.commands.whole_number import whole_number

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kraftctl_observer.log_reader import LogReader
    from kraftctl_spark.tables.durable import Hook
    from kraftctl_spark.tables.export_tasks import TaskSettings
    from kraftctl_spark.tables.manifest import Output

NEEDED = ("pyspark", "pyarrow")
SPARK_METADATA = "_spark_metadata"
"""The list of files that Spark's own sink keeps in the directory of its table."""

BATCHES_PER_COMPACTION = 60
OFFSETS_PER_BATCH = 10_000_000
"""Planning and committing a batch takes a third of a second; memory use does not depend on its size."""

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_location_flags(parser)
    parser.add_argument("--output", required=True, type=path_flag, help="directory of the tables")
    add_stream_flags(parser, "1 minute", OFFSETS_PER_BATCH)
    parser.add_argument("--include-secrets", action="store_true", help="do not redact anything")
    parser.add_argument(
        "--digest-key",
        type=path_flag,
        help="file with a random key, outside of OUTPUT: redacted configurations then have a digest of their "
        "value, by which a new value differs from the same one",
    )
    parser.add_argument(
        "--compact-after",
        type=whole_number(0),
        default=BATCHES_PER_COMPACTION,
        help=f"merge small files after this many batches, 0: never [{BATCHES_PER_COMPACTION}]",
    )
    add_grace_minutes(parser)
    parser.add_argument(
        "--history",
        action="store_true",
        help=f"also continue the tables of versions in OUTPUT/{HISTORY_DIRECTORY} after each batch",
    )


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 after an orderly end, 1 when the query failed."""
    from kraftctl_spark.tables.export_tasks import TaskSettings
    from kraftctl_spark.tables.manifest import ExportRefusedError, Output

    try:
        location = location_of(options)
    except ValueError as error:
        raise ExportRefusedError(str(error)) from error
    if (options.output / SPARK_METADATA).exists():
        raise ExportRefusedError(
            f"{options.output} holds a table that Spark's own sink writes: choose another output directory"
        )
    if options.digest_key is not None and _is_within(options.digest_key, options.output):
        raise ExportRefusedError(
            f"{options.digest_key} is in {options.output}: a reader of the digests must not have their key"
        )
    reader = location.open(options.cluster_id)
    output = Output(options.output.absolute(), hook)
    try:
        with output.locked():
            cluster_id = reader.cluster_id()
            settings = TaskSettings(
                output.directory, location, cluster_id, options.include_secrets, hook, options.digest_key
            )
            settings.key()
            return _run_query(options, output, settings, reader)
    finally:
        reader.close()


def _is_within(path: Path, directory: Path) -> bool:
    return path.resolve().is_relative_to(directory.resolve())


def _run_query(options: argparse.Namespace, output: Output, settings: TaskSettings, reader: LogReader) -> int:
    from kraftctl_spark.datasource.checkpoint import check_checkpoint
    from kraftctl_spark.datasource.query_run import run_session, stop_on_signals
    from kraftctl_spark.datasource.spark_home import light_spark_home
    from kraftctl_spark.tables.exporter import checked_position
    from kraftctl_spark.tables.manifest import check_writable

    checkpoint = options.checkpoint or output.directory / "_checkpoint"
    position = checked_position(output, settings.cluster_id)
    output.check_files()
    check_writable(checkpoint.absolute(), "the checkpoint")
    check_checkpoint(checkpoint, position, reader)
    place = reader.position(position.offset, position.epoch)
    log.info(
        "cluster %s: the tables go up to offset %d, %s have %d more",
        settings.cluster_id,
        position.offset,
        settings.location,
        max(0, place.high_watermark - position.offset),
    )
    if (change := output.changed_redaction(options.include_secrets)) is not None:
        log.warning("%s", change)
    clean_up(output, options.grace_minutes * MS_PER_MINUTE)
    stop = stop_on_signals()
    exporting = partial(_export, options, output, settings, reader, checkpoint, stop)
    with light_spark_home():
        return run_session(options.master, exporting)


def _export(
    options: argparse.Namespace,
    output: Output,
    settings: TaskSettings,
    reader: LogReader,
    checkpoint: Path,
    stop: threading.Event,
    spark: SparkSession,
) -> bool:
    """Returns whether the query ended in an orderly way."""
    from kraftctl_spark.datasource.query_run import run_until
    from kraftctl_spark.datasource.table_stream import batch_writer, spark_tasks, start_query
    from kraftctl_spark.tables.compaction import RegularCompaction
    from kraftctl_spark.tables.exporter import Exporter

    exporter = Exporter(output, settings, reader, spark_tasks(spark, settings))
    compaction = RegularCompaction(output, options.compact_after, options.grace_minutes * MS_PER_MINUTE)
    query = start_query(
        spark,
        batch_writer(exporter, [*_history(options, output), compaction.after_batch]),
        location=settings.location,
        cluster_id=settings.cluster_id,
        checkpoint=checkpoint,
        schedule=schedule_of(options),
    )
    return run_until(query, stop)


def _history(options: argparse.Namespace, output: Output) -> list[Callable[[], None]]:
    """Returns what continues the history after a batch, if it is wanted."""
    from kraftctl_spark.history.history_tables import HistoryTables

    if not options.history:
        return []
    directory = output.directory / HISTORY_DIRECTORY
    return [RegularHistory(HistoryTables(output.directory, directory, output.hook)).after_batch]


def clean_up(output: Output, grace_ms: int) -> None:
    """Removes leftovers of exports and compactions; readers of the bare directory could find rows twice.

    What an earlier release did not understand is decoded again.
    """
    from pyarrow import ArrowInvalid

    from kraftctl_spark.tables.decoding_again import decode_again
    from kraftctl_spark.tables.manifest import ExportRefusedError

    removed = output.remove_leftovers()
    with output.compacting(wait=False) as alone:
        if alone:
            try:
                decode_again(output)
            except (ExportRefusedError, OSError, ArrowInvalid) as error:
                log.warning("records are not decoded again for now: %s", error)
            removed += output.remove_replaced(grace_ms)
    if removed:
        log.info("removed %d files that had been left behind or replaced", removed)
