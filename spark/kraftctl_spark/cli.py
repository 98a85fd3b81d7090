"""`kraftctl-export`: a quorum's committed metadata as typed Parquet tables.

    kraftctl-export run --bootstrap-controllers host:port --output DIR [--available-now]
    kraftctl-export compact --output DIR
    kraftctl-export status --output DIR [--json]
    kraftctl-export history --tables DIR [--output DIR]
    kraftctl-export macros --tables DIR --engine duckdb|spark|trino --to FILE [--audit-log FILE]
    kraftctl-export report --output DIR --to FILE [--history DIR]
    kraftctl-export log --output DIR --to DIR [--as-of OFFSET|TIME]

`run` continues until SIGTERM or SIGINT, or with --available-now until it has caught up. What a killed process
was writing is written again at the next start, under the same names.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from kraftctl_security.standard_output import guarded
from kraftctl_spark.commands import compact, history, macros, report, run, status, write_log
from kraftctl_spark.commands.log_lines import log_to_standard_error

if TYPE_CHECKING:
    from kraftctl_spark.tables.durable import Hook

COMMANDS: dict[str, tuple[ModuleType, str]] = {
    "run": (run, "write what is committed, continuously"),
    "compact": (compact, "merge small files"),
    "history": (history, "compute from when to when everything was so"),
    "macros": (macros, "write views and macros over the history for an engine of SQL"),
    "report": (report, "write one HTML page of plots about what happened"),
    "log": (write_log, "write records up to an offset or a time as the files of a controller"),
    "status": (status, "show how far the tables go, and what is in them"),
}
"""Each command with its module in `kraftctl_spark.commands` and its purpose."""

log = logging.getLogger("kraftctl_spark.cli")


def main(arguments: list[str] | None = None, hook: Hook | None = None) -> int:
    """Returns 0 after an orderly end, 1 when the command failed, 2 when it was refused."""
    with guarded("kraftctl-export"):
        return _run(arguments, hook)


def _install(extra: str, root: Path = Path(__file__).parents[2]) -> str:
    """Returns the command that installs what is missing: in a clone whose sources run, as in `make dev`, the
    packages alone.
    """
    lock = root / "requirements-dev.lock"
    if not lock.exists():
        return f"pip install '.[{extra}]' in a clone"
    return f"{sys.executable} -m pip install --require-hashes -r {lock}"


def _run(arguments: list[str] | None, hook: Hook | None) -> int:
    options = new_parser().parse_args(arguments)
    command, _ = COMMANDS[options.command]
    missing = [name for name in command.NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        needed = " and ".join(missing)
        extra = "spark" if "pyspark" in command.NEEDED else "report"
        print(f"kraftctl-export {options.command} needs {needed}: {_install(extra)}", file=sys.stderr)
        return 2
    if "pyspark" in command.NEEDED and not java_is_found():
        print(
            f"kraftctl-export {options.command} needs Java 17 or later: install it, or set JAVA_HOME",
            file=sys.stderr,
        )
        return 2
    log_to_standard_error()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    from kraftctl_observer.log_reader import ObserverError
    from kraftctl_protocol.file_errors import unplaced_error
    from kraftctl_spark.tables.durable import no_hook
    from kraftctl_spark.tables.manifest import ExportRefusedError

    try:
        code: int = command.run(options, hook or no_hook)
        return code
    except ExportRefusedError as error:
        log.error("%s", error)
        return 2
    except ObserverError as error:
        log.error("%s", error)
        return 1
    except OSError as unplaced:
        log.error("%s", unplaced_error(unplaced))
        return 1


def java_is_found() -> bool:
    """Returns whether Spark's own scripts would find Java; under spark-submit, it is running."""
    home = os.environ.get("JAVA_HOME")
    java = "java" if not home else f"{home}/bin/java"
    return "PYSPARK_GATEWAY_PORT" in os.environ or shutil.which(java) is not None


def installed_version() -> str:
    """Returns the version of the installed distribution."""
    try:
        return version("kraftctl")
    except PackageNotFoundError:
        return "from sources"


def new_parser() -> argparse.ArgumentParser:
    """Returns the parser with all commands."""
    parser = argparse.ArgumentParser(prog="kraftctl-export", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", action="version", version=f"%(prog)s {installed_version()}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (command, purpose) in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=purpose, description=purpose))
    return parser


if __name__ == "__main__":
    sys.exit(main())
