"""`kraftctl container`: makes server.properties of variables, formats the directories, and starts.

It is one process, so that signals reach the controller and its exit status is the container's.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from kraftctl.cli import format_storage, start
from kraftctl.cli.container.defaults import DEFAULTS, LOG_DIRS, check_log_dirs, default_lines
from kraftctl.cli.container.environment import (
    CLUSTER_ID,
    FORMAT_FLAGS,
    ignored_variables,
    log_level,
    overridden,
    server_properties,
    without_empty_addresses,
)
from kraftctl.cli.container.secrets import with_secrets
from kraftctl.cli.parser import Parser
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import decode_properties
from kraftctl_security.config_providers.resolve import resolve_properties
from kraftctl_security.config_values import ConfigException

NAME = "container"
PRINTS_ONLY = False

SERVER_PROPERTIES = "server.properties"
MOUNTED = Path("/mnt/shared/config")
SECRETS = Path("/etc/kafka/secrets")
WRITTEN = Path("/tmp/server.properties")
STATUS = 1


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "variables",
        metavar="VARIABLE=VALUE",
        nargs="*",
        help="variables that replace those of the environment",
    )
    parser.add_argument(
        "--mounted",
        metavar="DIRECTORY",
        type=Path,
        default=MOUNTED,
        help=f"may have a server.properties, to which variables add; default: {MOUNTED}",
    )
    parser.add_argument(
        "--secrets",
        metavar="DIRECTORY",
        type=Path,
        default=SECRETS,
        help=f"where KAFKA_SSL_*_FILENAME and KAFKA_SSL_*_CREDENTIALS name files; default: {SECRETS}",
    )
    parser.add_argument(
        "--properties",
        metavar="FILE",
        type=Path,
        default=WRITTEN,
        help=f"the properties file that it writes; default: {WRITTEN}",
    )
    parser.add_argument(
        "--defaults",
        action="store_true",
        help="what neither that file nor a variable sets is as the slim image has it",
    )
    parser.add_argument("--write-only", action="store_true", help="write that file; format and start nothing")
    parser.epilog = (
        "Variables are those of the apache/kafka image, and KRAFTCTL_* for keys of kraftctl. With CLUSTER_ID,"
        f" directories are formatted that are not; {FORMAT_FLAGS} has more flags of kraftctl format. The"
        " status is 1 without usable variables, else that of kraftctl start."
    )


def run(args: argparse.Namespace) -> int:
    try:
        variables = without_empty_addresses(overridden(os.environ, args.variables))
        os.environ.update(variables)
        level = log_level(variables)
        variables = write_properties(args, variables)
    except ValueError as error:
        return _refuse(str(error))
    except OSError as error:
        return _refuse(unplaced_error(error))
    ignored = ignored_variables(variables)
    if ignored:
        print(f"Ignored, as there is no JVM: {', '.join(ignored)}", flush=True)
    if args.write_only:
        return 0
    if variables.get(CLUSTER_ID):
        try:
            arguments = format_arguments(args.properties, variables)
        except ValueError as error:
            return _refuse(str(error))
        status = format_storage.run(arguments)
        sys.stdout.flush()
        if status != 0:
            return status
    return start.run(start_arguments(args.properties, level))


def write_properties(args: argparse.Namespace, variables: Mapping[str, str]) -> dict[str, str]:
    """Writes the properties, readable by this account alone, and returns the variables with secrets.

    Raises ValueError if there are no properties, or they would leave the log of this node.
    """
    path, file = args.properties, args.mounted / SERVER_PROPERTIES
    mounted = file.read_bytes() if file.exists() else None
    content = server_properties(mounted, variables)
    if not content.strip():
        raise ValueError(
            f"there are neither KAFKA_* variables nor {file}. Next step: set KAFKA_NODE_ID,"
            " KAFKA_CONTROLLER_QUORUM_VOTERS, KAFKA_LISTENERS and KAFKA_LOG_DIRS at least"
        )
    given = decode_properties(content)
    above = default_lines(given) if args.defaults else b""
    properties = resolved(above + content)
    check_log_dirs(given, properties, Path(DEFAULTS[LOG_DIRS]))
    complete = with_secrets(variables, args.secrets, properties)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as written:
        os.fchmod(written.fileno(), 0o600)
        written.write(above + server_properties(mounted, complete))
    return complete


def resolved(content: bytes) -> dict[str, str]:
    """Returns the properties, without the values of config providers if one refuses: a start does, too."""
    properties = decode_properties(content)
    try:
        return resolve_properties(properties)
    except ConfigException:
        return properties


def format_arguments(file: Path, variables: Mapping[str, str]) -> argparse.Namespace:
    """Returns the arguments of `kraftctl format`, which leaves formatted directories as they are.

    Raises ValueError if a quote in the variable with more flags is not closed.
    """
    parser = Parser(prog="kraftctl format")
    format_storage.add_arguments(parser)
    try:
        more = shlex.split(variables.get(FORMAT_FLAGS, ""))
    except ValueError as error:
        raise ValueError(f"{FORMAT_FLAGS}: {error}. Next step: close each quote in it") from error
    return parser.parse_args([f"--cluster-id={variables[CLUSTER_ID]}", "-c", str(file), "-g", *more])


def start_arguments(file: Path, level: str) -> argparse.Namespace:
    """Returns the arguments of `kraftctl start`."""
    parser = Parser(prog="kraftctl start")
    start.add_arguments(parser)
    return parser.parse_args([str(file), "--log-level", level])


def _refuse(reason: str) -> int:
    print(f"kraftctl container: {reason}", file=sys.stderr)
    return STATUS
