"""`kraftctl cluster`: the operations, flags and exit statuses of kafka-cluster."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from kraftctl.cli.admin.connection_flags import (
    BOOTSTRAP_FLAGS,
    add_connection_flags,
    open_client,
    report_failures,
)
from kraftctl.cli.cluster.listed_endpoints import list_endpoints
from kraftctl.cli.output import add_output_flag, print_output
from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, KafkaToolParser, Parser
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_security.resolved_properties import ResolvedProperties

NAME = "cluster"
PRINTS_ONLY = False

SHORT_FLAGS = ("-b", "-C", "-c")

READS = ("cluster-id", "list-endpoints")

Operation = Callable[[argparse.Namespace, AdminClient], None]


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    operations = parser.add_subparsers(
        dest="operation", metavar="OPERATION", required=True, parser_class=KafkaToolParser
    )

    def add(name: str, summary: str, run_operation: Operation) -> Parser:
        operation = operations.add_parser(name, help=summary)
        operation.set_defaults(run_operation=run_operation)
        add_connection_flags(operation, None, short=SHORT_FLAGS)
        operation.needs = (BOOTSTRAP_FLAGS,)
        operation.add_argument(
            "--config", type=Path, metavar="FILE", help="deprecated: the same as --command-config"
        )
        return operation

    add_output_flag(add("cluster-id", "print the id of the cluster", _cluster_id))
    unregister = add("unregister", "forget a broker that has been stopped for good", _unregister_broker)
    unregister.add_argument("-i", "--id", type=int, required=True, help="its node id")
    endpoints = add("list-endpoints", "list the brokers, or the controllers", _list_endpoints)
    endpoints.add_argument(
        "--include-fenced-brokers", action="store_true", help="with --bootstrap-server: fenced ones, too"
    )
    add_output_flag(endpoints)
    controller = add(
        "unregister-controller",
        "forget a controller that has been stopped for good, and is no voter",
        _unregister_controller,
    )
    controller.add_argument("-i", "--id", type=int, required=True, help="its node id")


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 with the reason on standard error."""
    command_config = args.config if args.command_config is None else args.command_config
    return report_failures(args, command_config, lambda properties: _run(args, properties))


def _run(args: argparse.Namespace, properties: ResolvedProperties | None) -> None:
    if args.config is not None and args.command_config is not None:
        raise AdminError("--config is an old name of --command-config: give one of them.")
    if args.config is not None:
        print("--config is deprecated: use --command-config.", file=sys.stderr)
    with open_client(args, properties, only_reads=args.operation in READS) as client:
        args.run_operation(args, client)


def _cluster_id(args: argparse.Namespace, client: AdminClient) -> None:
    cluster_id = client.cluster_id()
    print_output(args, f"Cluster ID: {escaped(cluster_id)}", {"clusterId": cluster_id})


def _list_endpoints(args: argparse.Namespace, client: AdminClient) -> None:
    if args.include_fenced_brokers and args.bootstrap_controller is not None:
        raise AdminError("--include-fenced-brokers is for --bootstrap-server: controllers are not fenced.")
    listed = list_endpoints(client, with_fenced=args.include_fenced_brokers)
    print_output(args, listed.text(), listed.value())


def _unregister_broker(args: argparse.Namespace, client: AdminClient) -> None:
    request = UnregisterBrokerRequest(broker_id=args.id)
    client.call(request, UnregisterBrokerResponse, _error_in)
    print(f"Broker {args.id} is no longer registered.")


def _unregister_controller(args: argparse.Namespace, client: AdminClient) -> None:
    request = UnregisterControllerRequest(controller_id=args.id)
    client.call(request, UnregisterControllerResponse, _error_in)
    print(f"Controller {args.id} is no longer registered.")


def _error_in(
    response: UnregisterBrokerResponse | UnregisterControllerResponse,
) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
