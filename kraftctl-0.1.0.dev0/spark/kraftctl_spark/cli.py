"""`kraftctl-export`: a quorum's committed metadata as typed Parquet tables.

    kraftctl-export run --bootstrap-controllers host:port --output DIR [--available-now]
    kraftctl-export compact --output DIR
    kraftctl-export status --output DIR [--json]
    kraftctl-export verify --output DIR [--at NUMBER --sha256 HEX]
    kraftctl-export take-over --output DIR
    kraftctl-export expire --output DIR --raw-before TIME [--execute]
    kraftctl-export history --tables DIR [--output DIR]
    kraftctl-export publish DIR --as delta|iceberg [--catalog NAME]
    kraftctl-export macros --tables DIR --engine duckdb|spark|trino --to FILE [--audit-log FILE]
    kraftctl-export report --output DIR --to FILE [--history DIR]
    kraftctl-export log --output DIR --to DIR [--as-of OFFSET|TIME]
    kraftctl-export restore --output DIR --plan FILE [--as-of OFFSET|TIME]
    kraftctl-export restore --apply FILE --to HOST:PORT,... [--execute]
    kraftctl-export forget --output DIR --principal TYPE:NAME|--topic NAME [--execute]
    kraftctl-export diff --output DIR --to HOST:PORT,... [--as-of OFFSET|TIME]

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
from types import ModuleType
from typing import TYPE_CHECKING

from kraftctl_protocol.extra_packages import install_command
from kraftctl_security.standard_output import guarded
from kraftctl_spark.commands import (
    compact,
    diff,
    expire,
    forget,
    history,
    macros,
    publish,
    report,
    restore,
    run,
    status,
    take_over,
    verify,
    write_log,
)
from kraftctl_spark.commands.engine_flags import NEEDED as ENGINES
from kraftctl_spark.commands.log_lines import log_to_standard_error

if TYPE_CHECKING:
    from kraftctl_spark.stores.durable import Hook

COMMANDS: dict[str, tuple[ModuleType, str]] = {
    "run": (run, "write what is committed, continuously"),
    "compact": (compact, "merge small files"),
    "history": (history, "compute from when to when everything was so"),
    "publish": (publish, "publish the tables as Delta or Iceberg"),
    "macros": (macros, "write views and macros over the history for an engine of SQL"),
    "report": (report, "write one HTML page of plots about what happened"),
    "log": (write_log, "write records up to an offset or a time as the files of a controller"),
    "restore": (restore, "give a cluster what one had at an offset or a time"),
    "diff": (diff, "show what has changed in a running cluster since an offset or a time"),
    "status": (status, "show how far the tables go, and what is in them"),
    "verify": (verify, "show that nothing was changed, removed or added since it was committed"),
    "expire": (expire, "remove raw records that are older than a time; the history stays"),
    "forget": (forget, "replace a principal or a topic by a pseudonym in all files"),
    "take-over": (take_over, "make an output of an earlier release one of this release"),
}
"""Each command with its module in `kraftctl_spark.commands` and its purpose."""

WITHOUT_SPARK = "; or add --engine local, which needs pyarrow alone"

log = logging.getLogger("kraftctl_spark.cli")


def main(arguments: list[str] | None = None, hook: Hook | None = None) -> int:
    """Returns 0 after an orderly end, 1 when the command failed, 2 when it was refused."""
    with guarded("kraftctl-export"):
        return _run(arguments, hook)


def _run(arguments: list[str] | None, hook: Hook | None) -> int:
    options = new_parser().parse_args(arguments)
    command, _ = COMMANDS[options.command]
    needed = ENGINES[options.engine] if command is run else command.NEEDED
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        extra = "spark" if "pyspark" in needed else "export" if command is run else "report"
        needs = f"kraftctl-export {options.command} needs {' and '.join(missing)}"
        print(
            f"{needs}: {install_command(extra, missing)}"
            f"{WITHOUT_SPARK if 'pyspark' in missing and command is run else ''}",
            file=sys.stderr,
        )
        return 2
    if "pyspark" in needed and not java_is_found():
        print(
            f"kraftctl-export {options.command} needs Java 17 or later: install it, or set JAVA_HOME",
            file=sys.stderr,
        )
        return 2
    log_to_standard_error()
    logging.getLogger("py4j").setLevel(logging.WARNING)
    from kraftctl_admin.errors import AdminError
    from kraftctl_observer.log_reader import ObserverError
    from kraftctl_protocol.file_errors import unplaced_error
    from kraftctl_spark.stores.durable import no_hook
    from kraftctl_spark.stores.store_error import StoreRefusedError
    from kraftctl_spark.tables.manifest import ExportRefusedError

    try:
        code: int = command.run(options, hook or no_hook)
        return code
    except (ExportRefusedError, StoreRefusedError) as error:
        log.error("%s", error)
        return 2
    except (AdminError, ObserverError) as error:
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
