"""`kraftctl-export report`: one HTML page of plots about the cluster's history."""

from __future__ import annotations

import argparse
import logging
import time
from dataclasses import replace
from glob import glob
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from kraftctl_spark.commands import history
from kraftctl_spark.commands.output_flag import add_output_flags, local_output_of
from kraftctl_spark.commands.path_flag import path_flag

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

NEEDED = ("pyarrow", "duckdb", "plotly")

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    parser.add_argument("--to", required=True, type=path_flag, help="the HTML file to write")
    parser.add_argument("--from", dest="from_time", metavar="TIME", help="2026-11-21T12:00:00Z [everything]")
    parser.add_argument("--until", metavar="TIME", help="the same; exclusive")
    parser.add_argument(
        "--history",
        type=path_flag,
        help=f"directory of the versions, continued if it is behind [OUTPUT/{history.DIRECTORY}]",
    )
    parser.add_argument(
        "--audit-log",
        type=path_flag,
        help="the audit logs of controllers, which may be several: '/var/log/kraftctl/audit.log*'",
    )


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns the exit code; ExportRefusedError for a directory without tables, or invalid times."""
    from kraftctl_spark.report.current_history import current_history
    from kraftctl_spark.report.page import render
    from kraftctl_spark.report.period import shown_time
    from kraftctl_spark.report.queries.fetch import fetch
    from kraftctl_spark.stores.durable import write_whole
    from kraftctl_spark.tables.manifest import ExportRefusedError
    from kraftctl_spark.tables.output import Output

    began = time.monotonic()
    from_ms, until_ms = _time(options, "from_time"), _time(options, "until")
    if options.to.is_dir() or not options.to.absolute().parent.is_dir():
        raise ExportRefusedError(f"--to {options.to}: name a file in a directory that exists")
    _check_audit_log(options.audit_log)
    with TemporaryDirectory(prefix="kraftctl-report-") as scratch, local_output_of(options) as tables:
        output = Output(tables)
        output.check_exists()
        place: Path = options.history or tables / history.DIRECTORY
        place = current_history(tables, place, Path(scratch), hook)
        continued_s = time.monotonic() - began
        with output.undisturbed():
            contents = fetch(tables, place, from_ms, until_ms, options.audit_log)
    fetched_s = time.monotonic() - began
    made_ms = int(time.time() * 1000)
    made = f"made by kraftctl-export at {shown_time(made_ms)} UTC"
    page = render(replace(contents, made_ms=made_ms), made).encode()
    write_whole(options.to.absolute(), page, hook)
    total_s = time.monotonic() - began
    log.info(
        "wrote %s: %.1f MB in %.1f s (history %.1f s, queries %.1f s, page %.1f s)",
        *(options.to, len(page) / 1e6, total_s, continued_s, fetched_s - continued_s, total_s - fetched_s),
    )
    return 0


def _check_audit_log(pattern: Path | None) -> None:
    """ExportRefusedError where no file has the name; OSError for one that cannot be read."""
    from kraftctl_spark.tables.manifest import ExportRefusedError

    found = [] if pattern is None else glob(str(pattern))
    if pattern is not None and not found:
        raise ExportRefusedError(f"--audit-log {pattern}: no file has this name or matches it")
    for path in found:
        with open(path, "rb"):
            pass


def _time(options: argparse.Namespace, name: str) -> int | None:
    from kraftctl_spark.report.period import parse_time
    from kraftctl_spark.tables.manifest import ExportRefusedError

    text = getattr(options, name)
    if text is None:
        return None
    try:
        return parse_time(text)
    except ValueError as error:
        raise ExportRefusedError(f"--{name.removesuffix('_time')}: {error}") from error
