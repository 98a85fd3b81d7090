"""`kraftctl-export macros` writes a file of SQL for an engine: tables, views and macros over this history."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.commands import history
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)
ENGINES = ("duckdb", "spark", "trino")

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", required=True, type=path_flag, help="directory of the typed tables")
    parser.add_argument("--engine", required=True, choices=ENGINES, help="the engine that will load it")
    parser.add_argument("--to", required=True, type=path_flag, help="the file to write")
    parser.add_argument(
        "--history", type=path_flag, help=f"directory of the versions [TABLES/{history.DIRECTORY}]"
    )
    parser.add_argument(
        "--audit-log",
        type=path_flag,
        help="the audit logs of controllers, which may be several: '/var/log/kraftctl/audit.log*'",
    )


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError without a history."""
    from kraftctl_spark.history.history_manifest import read_manifest
    from kraftctl_spark.history.questions.files import text_of
    from kraftctl_spark.history.questions.macros import (
        AUDIT_LOG_PLACE,
        HISTORY_PLACE,
        MACROS,
        TABLES_PLACE,
        WITH_AUDIT_LOG,
        placed,
    )
    from kraftctl_spark.stores.durable import write_whole
    from kraftctl_spark.tables.kept_removed import is_published
    from kraftctl_spark.tables.manifest import ExportRefusedError
    from kraftctl_spark.tables.output import Output

    tables: Path = options.tables.absolute()
    place: Path = (options.history or options.tables / history.DIRECTORY).absolute()
    if read_manifest(place) is None:
        raise ExportRefusedError(
            f"{place} holds no history: kraftctl-export history --tables {options.tables} computes it"
        )
    if options.to.is_dir() or not options.to.absolute().parent.is_dir():
        raise ExportRefusedError(f"--to {options.to}: name a file in a directory that exists")
    if is_published(Output(tables)):
        log.warning(
            "%s keeps replaced files for readers of Delta and Iceberg, and the views read all files: some "
            "rows are twice in them; query the published tables",
            tables,
        )
    places = {HISTORY_PLACE: place, TABLES_PLACE: tables}
    text = text_of(options.engine, MACROS)
    if options.audit_log is not None:
        places[AUDIT_LOG_PLACE] = options.audit_log.absolute()
        text += text_of(options.engine, WITH_AUDIT_LOG)
    write_whole(options.to.absolute(), placed(text, places).encode(), hook)
    log.info("%s has the tables, views and macros for %s", options.to, options.engine)
    return 0
