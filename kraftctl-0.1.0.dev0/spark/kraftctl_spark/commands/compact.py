"""`kraftctl-export compact`: merge small files, even while an export appends to the same tables."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from kraftctl_spark.commands.keep_removed import add_keep_removed, keep_removed_ms
from kraftctl_spark.commands.output_flag import add_output_flags, output_of

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    add_keep_removed(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables."""
    from kraftctl_spark.tables.compaction import compact

    with output_of(options, hook) as output:
        output.check_exists()
        with output.compacting(wait=True):
            result = compact(output, keep_removed_ms(options, output))
    log.info("%s", result)
    return 0
