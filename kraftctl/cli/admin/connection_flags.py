"""The flags that name the cluster of a command, and what they mean."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kraftctl import SOFTWARE
from kraftctl.cli.admin.bootstrap import parse_bootstrap
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.output import print_failure
from kraftctl.cli.unknown_keys import unknown_keys_of_client
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import DEFAULT_API_TIMEOUT_MS, ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_security.config_values import ConfigException
from kraftctl_security.resolved_properties import ResolvedProperties

READ_TIMEOUT_MS = 5_000
"""The time for an operation that only reads, unless --command-config sets default.api.timeout.ms."""

CLIENT_PROPERTIES = "properties of the client"
BOOTSTRAP_FLAGS = ("--bootstrap-server", "--bootstrap-controller")
"""A command that asks a cluster needs one of them."""


def add_connection_flags(
    parser: argparse.ArgumentParser,
    default: str | None,
    *,
    short: tuple[str, str, str] | None = None,
    about_config: str = CLIENT_PROPERTIES,
) -> None:
    """Adds them; `short` has the one-letter flags, of which only kafka-cluster has some."""
    server, controller, config = ((flag,) for flag in short) if short is not None else ((), (), ())
    flags = parser.add_argument_group("connection")
    flags.add_argument(
        *server, "--bootstrap-server", default=default, metavar="HOST:PORT,...", help="brokers to connect to"
    )
    flags.add_argument(
        *controller,
        "--bootstrap-controller",
        default=default,
        metavar="HOST:PORT,...",
        help="controllers to connect to, instead of brokers",
    )
    flags.add_argument(
        *config, "--command-config", type=Path, default=default, metavar="FILE", help=about_config
    )


def named_bootstrap(args: argparse.Namespace) -> tuple[list[tuple[str, int]], bool]:
    """Returns the addresses, and whether they are controllers. Raises AdminError."""
    if (args.bootstrap_server is None) == (args.bootstrap_controller is None):
        raise AdminError("Give either --bootstrap-server or --bootstrap-controller.")
    if args.bootstrap_server is not None:
        return parse_bootstrap(args.bootstrap_server), False
    return parse_bootstrap(args.bootstrap_controller), True


def open_client(
    args: argparse.Namespace, properties: ResolvedProperties | None, *, only_reads: bool
) -> AdminClient:
    """Returns a client of the cluster that the flags name. Raises AdminError."""
    bootstrap, to_controllers = named_bootstrap(args)
    config = parse_client_config({} if properties is None else properties)
    if only_reads and (properties is None or DEFAULT_API_TIMEOUT_MS not in properties):
        config = _at_most(config, READ_TIMEOUT_MS)
    return AdminClient(
        bootstrap, to_controllers=to_controllers, config=config, clock=Clock(), software=SOFTWARE
    )


def report_failures(
    args: argparse.Namespace,
    command_config: Path | None,
    operation: Callable[[ResolvedProperties | None], object],
) -> int:
    """Runs the operation with the properties of that file. Returns 0, or another status with the reason on
    standard error, and in the JSON that `args` may ask for.
    """
    properties = None
    try:
        if command_config is not None:
            properties = read_config_file(command_config)
            for sentence in unknown_keys_of_client(properties).values():
                print(f"{command_config}: {sentence}", file=sys.stderr)
        operation(properties)
    except (AdminError, ConfigException, StorageError, PropertiesError) as error:
        text = str(error) if properties is None else properties.hide(str(error))
        print_failure(args, escaped(text, keep="\n"))
        return error.status if isinstance(error, AdminError) else 1
    except BrokenPipeError:
        raise
    except OSError as unplaced:
        print_failure(args, unplaced_error(unplaced))
        return 1
    return 0


def _at_most(config: ClientConfig, limit_ms: int) -> ClientConfig:
    return replace(config, default_api_timeout_ms=min(config.default_api_timeout_ms, limit_ms))
