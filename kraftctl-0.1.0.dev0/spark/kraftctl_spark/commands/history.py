"""`kraftctl-export history` writes tables of versions: one filter gives the state as of an offset or a
time.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.commands.keep_removed import add_keep_removed
from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.history import DIRECTORY as DIRECTORY

if TYPE_CHECKING:
    from kraftctl_spark.history.history_tables import HistoryTables
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", required=True, type=path_flag, help="directory of the typed tables")
    parser.add_argument("--output", type=path_flag, help=f"directory of the versions [TABLES/{DIRECTORY}]")
    parser.add_argument("--rebuild", action="store_true", help="compute everything again")
    parser.add_argument("--merge", action="store_true", help="merge all small files")
    add_keep_removed(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.history.history_tables import HistoryTables

    output: Path = options.output or options.tables / DIRECTORY
    tables = HistoryTables(options.tables, output, hook, options.keep_removed)
    manifest = tables.rebuild() if options.rebuild else tables.catch_up()
    if options.merge:
        manifest = tables.merge()
    rows: Counter[str] = Counter()
    for file in manifest.files:
        rows[file.table] += file.rows
    log.info(
        "%s goes up to offset %d and holds %s",
        output,
        manifest.end,
        ", ".join(f"{count} {table}" for table, count in rows.items()),
    )
    return 0


class RegularHistory:
    """Continues the history after each batch of an export, in the same process."""

    def __init__(self, tables: HistoryTables, failed: Callable[[], None] = lambda: None) -> None:
        self._tables = tables
        self._failed = failed

    def after_batch(self) -> None:
        """Continues the history. A failure does not stop the export: the next batch, or `history`,
        continues it.
        """
        from pyarrow import ArrowInvalid

        from kraftctl_spark.tables.manifest import ExportRefusedError

        try:
            manifest = self._tables.catch_up()
            log.info("the history goes up to offset %d", manifest.end)
        except (ExportRefusedError, OSError, ArrowInvalid, AssertionError) as error:
            log.warning("the history is not continued for now: %s", error)
            self._failed()
