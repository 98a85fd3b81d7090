"""The wide job: a quorum's committed metadata, appended by Spark to one table of Parquet files.

    python -m kraftctl_spark.wide_export --bootstrap-controllers host:port --output DIR [--available-now]

Runs until SIGTERM or SIGINT, or with --available-now until it has caught up. An interrupted batch is repeated
at the next start, from the checkpoint; Spark's list of files (`_spark_metadata`) then omits the files of the
first attempt.
"""

from __future__ import annotations

import argparse
import logging
import sys
import threading
from functools import partial

from pyspark.sql import SparkSession

from kraftctl_security.standard_output import guarded
from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.commands.log_lines import log_to_standard_error
from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.commands.stream_flags import add_stream_flags, schedule_of
from kraftctl_spark.datasource.query_run import run_session, run_until, stop_on_signals
from kraftctl_spark.datasource.source_options import OFFSETS_PER_TRIGGER_DEFAULT
from kraftctl_spark.datasource.spark_home import light_spark_home
from kraftctl_spark.datasource.wide_table import check_output, progress_line, start_query
from kraftctl_spark.tables.manifest import ExportRefusedError

log = logging.getLogger("kraftctl_spark.wide_export")


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 after an orderly end, 1 when the query failed, 2 when it was refused."""
    with guarded("wide_export"):
        return _run(arguments)


def _run(arguments: list[str] | None) -> int:
    options = _parse(arguments)
    log_to_standard_error()
    stop = stop_on_signals()
    try:
        check_output(options.output, options.checkpoint)
    except ExportRefusedError as error:
        log.error("%s", error)
        return 2
    with light_spark_home():
        return run_session(options.master, partial(_export, options, stop))


def _export(options: argparse.Namespace, stop: threading.Event, spark: SparkSession) -> bool:
    """Returns whether the query ended in an orderly way."""
    query = start_query(
        spark,
        location=options.location,
        cluster_id=options.cluster_id,
        output=options.output,
        checkpoint=options.checkpoint,
        schedule=schedule_of(options),
    )
    return run_until(query, stop, progress_line)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m kraftctl_spark.wide_export", description=__doc__.splitlines()[0]
    )
    add_location_flags(parser)
    parser.add_argument("--output", required=True, type=path_flag, help="directory of the Parquet files")
    add_stream_flags(parser, "10 seconds", OFFSETS_PER_TRIGGER_DEFAULT)
    options = parser.parse_args(arguments)
    try:
        options.location = location_of(options)
    except ValueError as error:
        parser.error(str(error))
    if options.checkpoint is None:
        options.checkpoint = options.output / "_checkpoint"
    return options


if __name__ == "__main__":
    sys.exit(main())
