"""`kraftctl quorum`: the flags and exit statuses of kafka-metadata-quorum.

Kafka's tool takes the flags of the connection before the operation; here they may also follow it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kraftctl.cli.admin.admin_client import AdminClient, parse_bootstrap
from kraftctl.cli.admin.client_config import parse_client_config
from kraftctl.cli.admin.errors import AdminError
from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, KafkaToolParser, Parser
from kraftctl.cli.quorum.describe import replication_text, status_text
from kraftctl.cli.quorum.quorum_info import describe_quorum
from kraftctl.server.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.properties_file import read_properties
from kraftctl_protocol.java_properties import PropertiesError

NAME = "quorum"


@dataclass(frozen=True)
class Session:
    """What an operation works with: the cluster, and the content of the --command-config file, if any."""

    client: AdminClient
    properties: dict[str, str] | None
    clock: Clock


Operation = Callable[[argparse.Namespace, Session], None]


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    _add_connection_flags(parser, default=None)
    operations = parser.add_subparsers(
        dest="operation", metavar="OPERATION", required=True, parser_class=KafkaToolParser
    )
    _add_describe(operations.add_parser("describe", help="describe the quorum"))
    for operation in operations.choices.values():
        # Without a default of its own, an operation keeps what precedes it.
        _add_connection_flags(operation, default=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """0, or 1 with the reason on standard error."""
    operation: Operation = args.run_operation
    try:
        properties = None if args.command_config is None else read_properties(args.command_config)
        config = parse_client_config(properties or {})
        bootstrap, to_controllers = _bootstrap(args)
        clock = Clock()
        with AdminClient(bootstrap, to_controllers=to_controllers, config=config, clock=clock) as client:
            operation(args, Session(client, properties, clock))
    except (AdminError, StorageError, PropertiesError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _add_connection_flags(parser: argparse.ArgumentParser, default: str | None) -> None:
    flags = parser.add_argument_group("connection")
    flags.add_argument(
        "--bootstrap-server", default=default, metavar="HOST:PORT,...", help="brokers to connect to"
    )
    flags.add_argument(
        "--bootstrap-controller",
        default=default,
        metavar="HOST:PORT,...",
        help="controllers to connect to, instead of brokers",
    )
    flags.add_argument(
        "--command-config",
        type=Path,
        default=default,
        metavar="FILE",
        help="properties of the client; for add-controller, the properties file of the controller",
    )


def _add_describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--status",
        action="store_true",
        help="leader, high watermark, largest lag, voters, observers",
    )
    parser.add_argument("--replication", action="store_true", help="how far each replica has fetched")
    parser.add_argument(
        "--human-readable", action="store_true", help="with --replication: times as 'N ms ago'"
    )
    parser.set_defaults(run_operation=_describe)


def _describe(args: argparse.Namespace, session: Session) -> None:
    if args.status == args.replication:
        raise AdminError("describe needs either --status or --replication.")
    if args.status and args.human_readable:
        raise AdminError("--human-readable is for --replication only.")
    if args.status:
        cluster_id = session.client.cluster_id()
        print(status_text(cluster_id, describe_quorum(session.client)))
        return
    quorum = describe_quorum(session.client)
    print(replication_text(quorum, session.clock.wall_ms(), human_readable=args.human_readable))


def _bootstrap(args: argparse.Namespace) -> tuple[list[tuple[str, int]], bool]:
    """The addresses, and whether they are controllers."""
    if (args.bootstrap_server is None) == (args.bootstrap_controller is None):
        raise AdminError("Give either --bootstrap-server or --bootstrap-controller.")
    if args.bootstrap_server is not None:
        return parse_bootstrap(args.bootstrap_server), False
    return parse_bootstrap(args.bootstrap_controller), True
