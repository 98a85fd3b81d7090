"""`kraftctl-export`: a quorum's committed metadata as typed Parquet tables.

    kraftctl-export run --bootstrap-controllers host:port --output DIR [--available-now]
    kraftctl-export compact --output DIR

`run` goes on until SIGTERM or SIGINT, or with --available-now until it has caught up. What it was writing
when it died is written again at the next start, under the same names.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftctl_spark.durable import Hook
    from kraftctl_spark.export_tasks import TaskSettings
    from kraftctl_spark.manifest import Output
    from kraftctl_spark.observer import QuorumObserver

NEEDED = ("pyspark", "pyarrow")
GRACE_MINUTES = 60
BATCHES_PER_COMPACTION = 60

log = logging.getLogger("kraftctl_spark.cli")


def main(arguments: list[str] | None = None, hook: Hook | None = None) -> int:
    """Exit code: 0 after an orderly end, 1 when the export failed, 2 when it was refused."""
    options = _parse(arguments)
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        print("kraftctl-export needs pyspark and pyarrow: pip install 'kraftctl[spark]'", file=sys.stderr)
        return 2
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)")
    logging.getLogger("py4j").setLevel(logging.WARNING)
    from kraftctl_spark.durable import no_hook
    from kraftctl_spark.manifest import ExportRefusedError
    from kraftctl_spark.observer import ObserverError

    try:
        if options.command == "compact":
            return _compact(options, hook or no_hook)
        return _run(options, hook or no_hook)
    except ExportRefusedError as error:
        log.error("%s", error)
        return 2
    except (ObserverError, OSError) as error:
        log.error("%s", error)
        return 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kraftctl-export", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="write what is committed, and go on")
    run.add_argument("--bootstrap-controllers", required=True, help="host:port,host:port of any controllers")
    run.add_argument("--output", required=True, type=Path, help="directory of the tables")
    run.add_argument("--checkpoint", type=Path, help="directory of Spark's progress [OUTPUT/_checkpoint]")
    run.add_argument("--cluster-id", help="what the controllers should belong to [they are asked]")
    run.add_argument("--available-now", action="store_true", help="stop when caught up")
    run.add_argument("--interval", default="1 minute", help="pause between batches [1 minute]")
    run.add_argument("--max-offsets-per-trigger", type=int, default=1_000_000)
    run.add_argument("--request-timeout-ms", type=int, default=60_000)
    run.add_argument("--include-secrets", action="store_true", help="do not redact anything")
    run.add_argument(
        "--compact-after",
        type=int,
        default=BATCHES_PER_COMPACTION,
        help=f"merge small files after so many batches, 0: never [{BATCHES_PER_COMPACTION}]",
    )
    run.add_argument("--master", help="Spark master [as configured, else local[*]]")
    compact = commands.add_parser("compact", help="merge small files")
    compact.add_argument("--output", required=True, type=Path, help="directory of the tables")
    for command in (run, compact):
        command.add_argument(
            "--grace-minutes",
            type=int,
            default=GRACE_MINUTES,
            help=f"how long merged files stay for readers that still use them [{GRACE_MINUTES}]",
        )
    return parser.parse_args(arguments)


def _compact(options: argparse.Namespace, hook: Hook) -> int:
    from kraftctl_spark.compaction import compact
    from kraftctl_spark.manifest import MANIFESTS, ExportRefusedError, Output

    output = Output(options.output, hook)
    if not (output.directory / MANIFESTS).is_dir():
        raise ExportRefusedError(f"{output.directory} holds no tables of kraftctl-export")
    with output.locked():
        result = compact(output, options.grace_minutes * 60_000)
    log.info("%s", result)
    return 0


def _run(options: argparse.Namespace, hook: Hook) -> int:
    from kraftctl_spark.export_tasks import TaskSettings
    from kraftctl_spark.manifest import ExportRefusedError, Output
    from kraftctl_spark.observer import QuorumObserver
    from kraftctl_spark.source import parse_endpoints

    try:
        bootstrap = parse_endpoints(options.bootstrap_controllers)
    except ValueError as error:
        raise ExportRefusedError(f"--bootstrap-controllers: {error}") from error
    if (options.output / "_spark_metadata").exists():
        raise ExportRefusedError(
            f"{options.output} holds a table of kraftctl_spark.export: choose another output directory"
        )
    timeout_s = options.request_timeout_ms / 1000
    observer = QuorumObserver(list(bootstrap), cluster_id=options.cluster_id, timeout_s=timeout_s)
    output = Output(options.output.absolute(), hook)
    try:
        with output.locked():
            settings = TaskSettings(
                output.directory, bootstrap, observer.cluster_id(), timeout_s, options.include_secrets, hook
            )
            return _run_query(options, output, settings, observer)
    finally:
        observer.close()


def _run_query(
    options: argparse.Namespace, output: Output, settings: TaskSettings, observer: QuorumObserver
) -> int:
    from kraftctl_spark.compaction import RegularCompaction
    from kraftctl_spark.export import build_session, run_until
    from kraftctl_spark.exporter import Exporter, checked_position
    from kraftctl_spark.sink import batch_writer, check_checkpoint, spark_tasks, start_query
    from kraftctl_spark.spark_home import light_spark_home

    checkpoint = options.checkpoint or output.directory / "_checkpoint"
    position = checked_position(output, settings.cluster_id)
    output.check_files()
    check_checkpoint(checkpoint, position, observer)
    log.info("the tables go up to offset %d of cluster %s", position.offset, settings.cluster_id)
    stop = _stop_on_signals()
    with light_spark_home():
        spark = build_session(options.master)
        try:
            exporter = Exporter(output, settings, observer, spark_tasks(spark, settings))
            compaction = RegularCompaction(output, options.compact_after, options.grace_minutes * 60_000)
            write_batch = batch_writer(exporter, compaction.after_batch)
            query = start_query(spark, write_batch, options, checkpoint, settings.cluster_id)
            return 0 if run_until(query, stop) else 1
        finally:
            spark.stop()


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()

    def on_signal(signum: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


if __name__ == "__main__":
    sys.exit(main())
