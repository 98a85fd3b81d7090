"""`kraftctl-export log` writes exported records as the files of a controller, for tools that read these."""

from __future__ import annotations

import argparse
import logging
import shutil
from typing import TYPE_CHECKING

from kraftctl_spark.commands.as_of_flag import HELP, past_place
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow",)

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", required=True, type=path_flag, help="directory of the tables, as given to run"
    )
    parser.add_argument("--to", required=True, type=path_flag, help="the directory to write, a new one")
    parser.add_argument("--as-of", metavar="OFFSET|TIME", help=HELP)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a place that the tables do not have."""
    from kraftctl_spark.history.log_files import write_log
    from kraftctl_spark.tables.manifest import ExportRefusedError
    from kraftctl_spark.tables.output import Output

    output = Output(options.output)
    output.check_exists()
    as_of = past_place(options.as_of)
    try:
        options.to.mkdir(parents=True)
    except FileExistsError as error:
        raise ExportRefusedError(f"--to {options.to}: it exists; name a new directory") from error
    try:  # From here on, the directory is of this process.
        with output.undisturbed():
            end = write_log(options.output, output.manifests(), as_of, options.to)
    except BaseException:
        shutil.rmtree(options.to, ignore_errors=True)
        raise
    log.info("wrote %s, up to offset %d", options.to, end - 1)
    return 0
