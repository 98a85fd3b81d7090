"""`kraftctl-export take-over` makes an output of an earlier release one of this release."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, type=path_flag, help="directory of the tables")


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError if it cannot be taken over."""
    from kraftctl_spark.history.take_over import take_over

    commit = take_over(options.output, hook)
    if commit is None:
        log.info("%s is an output of this release: there is nothing to take over", options.output)
    else:
        files = sum(len(batch.files) for batch in commit.batches)
        files += 0 if commit.history is None else len(commit.history.added)
        log.info("commit %d has the %d files that %s had", commit.number, files, options.output)
    return 0
