"""`kraftctl-export history`: tables of versions: one filter gives the state as of an offset or a time."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftctl_spark.tables.durable import Hook

NEEDED = ("pyarrow",)
DIRECTORY = "history"

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", required=True, type=Path, help="directory of the typed tables")
    parser.add_argument("--output", type=Path, help=f"directory of the versions [TABLES/{DIRECTORY}]")


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.history.rebuild import rebuild

    output: Path = options.output or options.tables / DIRECTORY
    rows = rebuild(options.tables, output, hook)
    log.info("%s holds %s", output, ", ".join(f"{count} {table}" for table, count in rows.items()))
    return 0
