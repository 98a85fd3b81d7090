"""How long replaced files are kept, as a flag of every command that replaces files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from kraftctl_spark.commands.interval import interval_ms

if TYPE_CHECKING:
    from kraftctl_spark.tables.output import Output


def add_keep_removed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep-removed",
        type=interval_ms,
        metavar="DURATION",
        help="how long replaced files are kept for scans that still read them, such as '1 hour'; meanwhile a "
        "reader of the bare directory finds their rows twice [none; 1 day once the tables are published]",
    )


def keep_removed_ms(options: argparse.Namespace, output: Output) -> int:
    """Returns the duration of this moment, which depends on whether the output is, or ever was, published."""
    from kraftctl_spark.tables.kept_removed import keep_ms_of

    return keep_ms_of(output, options.keep_removed)
