"""`kraftctl-export compact`: merge small files, even while an export appends to the same tables."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from kraftctl_spark.commands.path_flag import path_flag
from kraftctl_spark.commands.whole_number import whole_number

if TYPE_CHECKING:
    from kraftctl_spark.tables.durable import Hook

NEEDED = ("pyarrow",)
GRACE_MINUTES = 0
MS_PER_MINUTE = 60_000

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, type=path_flag, help="directory of the tables")
    add_grace_minutes(parser)


def add_grace_minutes(parser: argparse.ArgumentParser) -> None:
    """Adds the flag, for every command that merges files."""
    parser.add_argument(
        "--grace-minutes",
        type=whole_number(0),
        default=GRACE_MINUTES,
        help="how long merged files are kept for slow readers that use the manifests; meanwhile a reader of "
        f"the bare directory finds their rows twice [{GRACE_MINUTES}]",
    )


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.tables.compaction import compact
    from kraftctl_spark.tables.manifest import Output

    output = Output(options.output, hook)
    output.check_exists()
    with output.compacting(wait=True):
        result = compact(output, options.grace_minutes * MS_PER_MINUTE)
    log.info("%s", result)
    return 0
