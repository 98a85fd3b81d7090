"""`kraftctl-export run` writes committed records as typed tables, continuously."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.commands.engine_flags import add_engine_flags, check_engine_flags, engine_of
from kraftctl_spark.commands.history import DIRECTORY as HISTORY_DIRECTORY
from kraftctl_spark.commands.history import RegularHistory
from kraftctl_spark.commands.keep_removed import add_keep_removed
from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.commands.metrics_flag import add_metrics_flag, monitored
from kraftctl_spark.commands.output_flag import add_output_flags, output_of, store_of
from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.commands.publish_flags import add_formats, check_formats, targets_of
from kraftctl_spark.commands.stream_flags import add_stream_flags, schedule_of
from kraftctl_spark.commands.whole_number import whole_number

if TYPE_CHECKING:
    from kraftctl_observer.log_reader import LogReader
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.stores.open_store import StoreLocation
    from kraftctl_spark.tables.export_tasks import TaskSettings
    from kraftctl_spark.tables.output import Output

NEEDED = ("pyspark", "pyarrow")
SPARK_METADATA = "_spark_metadata"
"""The list of files that Spark's own sink keeps in the directory of its table."""

BATCHES_PER_COMPACTION = 60
OFFSETS_PER_BATCH = 10_000_000
"""Planning and committing a batch takes a third of a second; memory use does not depend on its size."""

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_location_flags(parser)
    add_output_flags(parser)
    add_engine_flags(parser)
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
    add_keep_removed(parser)
    add_metrics_flag(parser)
    parser.add_argument(
        "--history",
        action="store_true",
        help=f"also continue the tables of versions in OUTPUT/{HISTORY_DIRECTORY} after each batch",
    )
    add_formats(parser, "--publish", "also publish the tables after each batch", required=False)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 after an orderly end, 1 when the export failed."""
    from kraftctl_spark.tables.export_tasks import TaskSettings
    from kraftctl_spark.tables.manifest import ExportRefusedError

    try:
        location = location_of(options)
        check_engine_flags(options)
    except ValueError as error:
        raise ExportRefusedError(str(error)) from error
    store = store_of(options)
    check_formats(options, store)
    _check_places(options, store)
    reader = location.open(options.cluster_id)
    try:
        with output_of(options, hook, to_write=True) as output, output.locked():
            cluster_id = reader.cluster_id()
            key = options.digest_key
            settings = TaskSettings(
                output.directory, location, cluster_id, options.include_secrets, hook, key, store
            )
            settings.key()
            return _run_engine(options, output, settings, reader)
    finally:
        reader.close()


def _check_places(options: argparse.Namespace, store: StoreLocation | None) -> None:
    from kraftctl_spark.tables.manifest import ExportRefusedError

    if store is not None:
        return
    if (options.output / SPARK_METADATA).exists():
        raise ExportRefusedError(
            f"{options.output} holds a table that Spark's own sink writes: choose another output directory"
        )
    if options.digest_key is not None and _is_within(options.digest_key, options.output):
        raise ExportRefusedError(
            f"{options.digest_key} is in {options.output}: a reader of the digests must not have their key"
        )


def _is_within(path: Path, directory: Path) -> bool:
    return path.resolve().is_relative_to(directory.resolve())


def _run_engine(
    options: argparse.Namespace, output: Output, settings: TaskSettings, reader: LogReader
) -> int:
    from kraftctl_spark.engines.engine import Export, stop_on_signals
    from kraftctl_spark.monitoring.metric_table import COMPACTION, FAILURES, HISTORY, PUBLICATION, WORKER
    from kraftctl_spark.tables.compaction import RegularCompaction
    from kraftctl_spark.tables.exporter import checked_position
    from kraftctl_spark.tables.kept_removed import keep_ms_of

    engine = engine_of(options, output.directory)
    position = checked_position(output, settings.cluster_id)
    output.check_files()
    engine.check(position, reader)
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
    clean_up(output, keep_ms_of(output, _wanted_keep_ms(options)))
    with monitored(options, output, settings.cluster_id) as metrics:
        failed = {kind: partial(metrics.failed, kind) for kind in FAILURES}
        compaction = RegularCompaction(
            output, options.compact_after, _wanted_keep_ms(options), failed[COMPACTION]
        )
        history = _history(options, output, failed[HISTORY])
        publications = _publications(options, output, failed[PUBLICATION])
        for behind in [*history, *publications] if position.offset else ():
            behind()  # An earlier run may have had none of it, or was killed before it.
        after = [*history, compaction.after_batch, *publications]
        export = Export(
            output, settings, reader, schedule_of(options), after, metrics.committed, failed[WORKER]
        )
        return engine.run(export, stop_on_signals())


def _history(
    options: argparse.Namespace, output: Output, failed: Callable[[], None] = lambda: None
) -> list[Callable[[], None]]:
    """Returns what continues the history after a batch, if it is wanted."""
    from kraftctl_spark.history.history_tables import HistoryTables

    if not options.history:
        return []
    tables = HistoryTables.beside(output, _wanted_keep_ms(options))
    return [RegularHistory(tables, failed).after_batch]


def _publications(
    options: argparse.Namespace, output: Output, failed: Callable[[], None] = lambda: None
) -> list[Callable[[], None]]:
    """Returns what publishes after a batch and its history, in each format that is wanted."""
    from kraftctl_spark.publish.publisher import Publisher

    targets = targets_of(options, output.hook, store_of(options))
    return [Publisher(output, target, failed).after_batch for target in targets]


def _wanted_keep_ms(options: argparse.Namespace) -> int | None:
    """Returns how long to keep replaced files; None where that depends on other processes that publish."""
    from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS

    given: int | None = options.keep_removed
    return KEPT_WHEN_PUBLISHED_MS if given is None and options.formats else given


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
