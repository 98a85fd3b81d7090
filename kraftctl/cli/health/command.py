"""`kraftctl health`: asks all controllers, of kraftctl or Kafka, and says whether the cluster is healthy."""

from __future__ import annotations

import argparse
from pathlib import Path
from threading import Event
from typing import Final

from kraftctl.cli.admin.bootstrap import parse_bootstrap
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.health.collection import HealthCollector
from kraftctl.cli.health.forms import FORMS, NAGIOS, STATUSES, status_of
from kraftctl.cli.health.verdict import HEALTHY, LAG_MS_MAX, NOT_KNOWN, health_of
from kraftctl.cli.operate_access import check_operate_urls, read_token_file, trust_in
from kraftctl.cli.output import print_failure
from kraftctl.cli.parser import Parser
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_admin.client_config import parse_client_config
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_security.config_values import ConfigException
from kraftctl_security.resolved_properties import ResolvedProperties

NAME = "health"
PRINTS_ONLY = True

ROUND_MS: Final = 5_000
INTERVAL_MS: Final = 2_000

DIGITS_MAX: Final = 9
"""Eleven days in milliseconds."""

EPILOG: Final = (
    "The status is 0 if the cluster is healthy, 10 if not, 1 if that is not known, and 2 for wrong arguments;"
    " with --output nagios it is 0, 2 or 3, and 2 for wrong arguments."
)


def add_arguments(parser: Parser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--bootstrap-controllers",
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help="controllers; the others are found through them",
    )
    where.add_argument(
        "--bootstrap-server", metavar="HOST:PORT,...", help="brokers, which forward to the leader"
    )
    parser.add_argument("--command-config", type=Path, metavar="FILE", help="properties of the client")
    parser.add_argument(
        "--operate",
        nargs="+",
        default=[],
        metavar="URL",
        help="listeners for probes, of which /status.json and /metrics are read: http://HOST:PORT",
    )
    parser.add_argument("--operate-token", type=Path, metavar="FILE", help="a file with their token")
    parser.add_argument("--operate-ca", type=Path, metavar="FILE", help="certificates to trust with https")
    parser.add_argument("--watch", action="store_true", help="repeat it until Ctrl-C")
    parser.add_argument(
        "--exit-when-healthy", action="store_true", help="repeat it until the cluster is healthy"
    )
    parser.add_argument(
        "--wait-ms", type=_milliseconds, metavar="MS", help="with one of these: repeat it for so long"
    )
    parser.add_argument(
        "--interval-ms",
        type=_some_milliseconds,
        default=INTERVAL_MS,
        metavar="MS",
        help="default: %(default)s",
    )
    parser.add_argument(
        "--timeout-ms",
        type=_some_milliseconds,
        default=ROUND_MS,
        metavar="MS",
        help="of one round; default: %(default)s",
    )
    parser.add_argument(
        "--max-lag-ms",
        type=_milliseconds,
        default=LAG_MS_MAX,
        metavar="MS",
        help="a voter that had everything longer ago lags; default: %(default)s",
    )
    parser.add_argument("--output", choices=sorted(FORMS), default="text", help="default: text")
    parser.epilog = EPILOG


def _milliseconds(text: str) -> int:
    """Parses a time. Raises ArgumentTypeError."""
    if not text.isdecimal() or len(text) > DIGITS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of milliseconds, 0 or more")
    return int(text)


def _some_milliseconds(text: str) -> int:
    """Parses a time that is not 0: without a pause, rounds would follow each other without an end."""
    found = _milliseconds(text)
    if found == 0:
        raise argparse.ArgumentTypeError("0 milliseconds are too few")
    return found


def run(args: argparse.Namespace) -> int:
    """Returns the status of the last round."""
    properties: ResolvedProperties | None = None
    try:
        if args.command_config is not None:
            properties = read_config_file(args.command_config)
        collector = _collector(args, properties)
        return _repeat(args, collector)
    except (AdminError, ConfigException, PropertiesError, StorageError) as error:
        text = str(error) if properties is None else properties.hide(str(error))
        _print_failure(args, f"kraftctl health: {escaped(text, keep=chr(10))}")
    except BrokenPipeError:
        raise
    except OSError as unplaced:
        _print_failure(args, f"kraftctl health: {unplaced_error(unplaced)}")
    return NAGIOS[NOT_KNOWN][1] if args.output == "nagios" else STATUSES[NOT_KNOWN]


def _print_failure(args: argparse.Namespace, text: str) -> None:
    """Prints a reason in each form: Nagios shows only standard output."""
    print_failure(args, text, verdict=NOT_KNOWN)
    if args.output == "nagios":
        print(f"KRAFT {NAGIOS[NOT_KNOWN][0]} - {escaped(text).replace('|', '/')}")


def _collector(args: argparse.Namespace, properties: ResolvedProperties | None) -> HealthCollector:
    token, ca = args.operate_token, args.operate_ca
    to_controllers = args.bootstrap_controllers is not None
    return HealthCollector(
        parse_bootstrap(args.bootstrap_controllers if to_controllers else args.bootstrap_server),
        check_operate_urls(args.operate),
        to_controllers=to_controllers,
        config=parse_client_config({} if properties is None else properties),
        clock=Clock(),
        round_ms=args.timeout_ms,
        token=None if token is None else read_token_file("--operate-token", token),
        context=None if ca is None else trust_in("--operate-ca", ca),
    )


def _repeat(args: argparse.Namespace, collector: HealthCollector) -> int:
    clock = Clock()
    began_ms = clock.now_ms()
    while True:
        health = health_of(collector.collect(), args.max_lag_ms)
        print(FORMS[args.output](health), flush=True)
        is_over = args.wait_ms is not None and clock.now_ms() - began_ms >= args.wait_ms
        has_reached = args.exit_when_healthy and health.kind == HEALTHY
        if has_reached or is_over or not (args.watch or args.exit_when_healthy):
            return status_of(health, args.output)
        Event().wait(args.interval_ms / 1000)
