"""`kraftctl quorum`: the flags and exit statuses of kafka-metadata-quorum, and replace-voter.

Kafka's tool takes the flags of the connection before the operation; here they may also follow it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from kraftctl import SOFTWARE
from kraftctl.cli.admin.connection_flags import (
    BOOTSTRAP_FLAGS,
    CLIENT_PROPERTIES,
    add_connection_flags,
    named_bootstrap,
    report_failures,
)
from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, KafkaToolParser, Parser
from kraftctl.cli.quorum.controller_properties import read_controller_properties
from kraftctl.cli.quorum.controller_unregistration import (
    check_unregistration,
    unregister,
    unregistered_text,
)
from kraftctl.cli.quorum.describe import replication_text, status_text
from kraftctl.cli.quorum.majority_left import why_no_majority
from kraftctl.cli.quorum.may_stop import MayNotStopError, permission_to_stop
from kraftctl.cli.quorum.node_interview import Described
from kraftctl.cli.quorum.quorum_survey import LEADER_WAIT_MS, QuorumSurvey
from kraftctl.cli.quorum.replace_voter import VoterReplacement
from kraftctl.cli.quorum.voter_changes import add_voter, added_text, remove_voter, removed_text
from kraftctl.operate.restart import NOT_KNOWN
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import DEFAULT_API_TIMEOUT_MS, ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError, RefusedError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.uuids import uuid_from_string
from kraftctl_security.resolved_properties import ResolvedProperties

NAME = "quorum"
PRINTS_ONLY = False

ABOUT_CONFIG = f"{CLIENT_PROPERTIES}; for add-controller, the properties file of the controller"

STALL_TIMEOUT_MS = 600_000
"""The time is long enough to start a process by hand."""

START_THE_OTHERS = (
    "Next step: start the others, and repeat this when describe --replication shows a Lag of 0 for them."
    " If one of them will not return, remove that one first: this needs no --force. --force removes the"
    " controller nevertheless; remove-controller --help says what that risks."
)


@dataclass(frozen=True)
class Session:
    """The cluster of an operation, and the content of the --command-config file, if there is one."""

    client: AdminClient
    properties: dict[str, str] | None
    clock: Clock
    config: ClientConfig
    bootstrap: list[tuple[str, int]]
    to_controllers: bool

    def survey(self, *, with_cluster_id: bool) -> Described:
        """Asks for the quorum as its leader describes it; AdminError has each node's state if there is
        no leader.
        """
        limit_ms = self.config.default_api_timeout_ms
        is_given = self.properties is not None and DEFAULT_API_TIMEOUT_MS in self.properties
        return QuorumSurvey(
            self.bootstrap,
            to_controllers=self.to_controllers,
            config=self.config,
            clock=self.clock,
            wait_ms=limit_ms if is_given else min(limit_ms, LEADER_WAIT_MS),
            with_cluster_id=with_cluster_id,
        ).run()

    def await_leader(self) -> None:
        """Waits for a leader, which a change needs. Raises AdminError as `survey` does."""
        self.survey(with_cluster_id=False)


Operation = Callable[[argparse.Namespace, Session], None]


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    add_connection_flags(parser, None, about_config=ABOUT_CONFIG)
    operations = parser.add_subparsers(
        dest="operation", metavar="OPERATION", required=True, parser_class=KafkaToolParser
    )
    _add_describe(operations.add_parser("describe", help="describe the quorum"))
    _add_add_controller(operations.add_parser("add-controller", help="make a controller a voter"))
    _add_remove_controller(
        operations.add_parser("remove-controller", help="take a controller out of the voters")
    )
    _add_replace_voter(
        operations.add_parser("replace-voter", help="make a controller a voter again after its disk was lost")
    )
    _add_may_stop(operations.add_parser("may-stop", help="say whether a controller may be stopped now"))
    for operation in operations.choices.values():
        # Without a default of its own, an operation keeps what precedes it.
        add_connection_flags(operation, argparse.SUPPRESS, about_config=ABOUT_CONFIG)
        operation.needs = (BOOTSTRAP_FLAGS, *operation.needs)


def run(args: argparse.Namespace) -> int:
    """Returns 0, or another status with the reason on standard error."""
    return report_failures(args, args.command_config, lambda properties: _run(args, properties))


def _run(args: argparse.Namespace, properties: ResolvedProperties | None) -> None:
    operation: Operation = args.run_operation
    config = parse_client_config({} if properties is None else properties)
    bootstrap, to_controllers = named_bootstrap(args)
    clock = Clock()
    with AdminClient(
        bootstrap, to_controllers=to_controllers, config=config, clock=clock, software=SOFTWARE
    ) as client:
        operation(args, Session(client, properties, clock, config, bootstrap, to_controllers))


def _add_describe(parser: Parser) -> None:
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
    parser.needs = (("--status", "--replication"),)


def _describe(args: argparse.Namespace, session: Session) -> None:
    if args.status == args.replication:
        raise AdminError("describe needs either --status or --replication.")
    if args.status and args.human_readable:
        raise AdminError("--human-readable is for --replication only.")
    described = session.survey(with_cluster_id=args.status)
    if args.status:
        print(status_text(described.cluster_id, described.quorum))
        return
    wall_ms = session.clock.wall_ms()
    print(replication_text(described.quorum, wall_ms, human_readable=args.human_readable))


def _add_add_controller(parser: Parser) -> None:
    _add_dry_run(parser)
    parser.set_defaults(run_operation=_add_controller)
    parser.needs = (("--command-config",),)


def _add_controller(args: argparse.Namespace, session: Session) -> None:
    if session.properties is None:
        raise AdminError("add-controller needs --command-config, the properties file of that controller.")
    controller = read_controller_properties(session.properties)
    directory_id = controller.formatted_directory_id()
    if not args.dry_run:
        session.await_leader()
        add_voter(session.client, controller.node_id, directory_id, controller.endpoints)
    print(added_text(controller.node_id, directory_id, controller.endpoints, dry_run=args.dry_run))


def _add_remove_controller(parser: Parser) -> None:
    parser.add_argument("-i", "--controller-id", type=int, required=True, help="its node id")
    parser.add_argument("-d", "--controller-directory-id", required=True, help="its directory id")
    parser.add_argument(
        "--force",
        action="store_true",
        help="remove it even if the voters that remain are no majority that is running and caught up: then"
        " nothing can be changed, and no leader elected, before enough of the missing ones have returned. If"
        " they never do, only backups of their directories bring the quorum back",
    )
    parser.add_argument(
        "--unregister",
        action="store_true",
        help="then forget what it supports, which otherwise limits the cluster until it returns. Stop it"
        " first: a running controller registers again. Needs metadata.version 4.4-IV2, which is checked"
        " before anything is removed. Can be repeated: one that was removed before is unregistered",
    )
    _add_dry_run(parser)
    parser.set_defaults(run_operation=_remove_controller)


def _remove_controller(args: argparse.Namespace, session: Session) -> None:
    if args.controller_id < 0:
        raise AdminError(f"--controller-id {args.controller_id} is negative.")
    try:
        directory_id = uuid_from_string(args.controller_directory_id)
    except ValueError as error:
        raise AdminError(f"--controller-directory-id: {error}") from error
    if args.dry_run:
        print(removed_text(args.controller_id, directory_id, dry_run=True))
        if args.unregister:
            print(unregistered_text(args.controller_id, dry_run=True))
        return
    quorum = session.survey(with_cluster_id=False).quorum
    if args.unregister:
        check_unregistration(session.client)
    reason = why_no_majority(quorum, args.controller_id)
    if reason is not None and not args.force:
        raise AdminError(f"{reason}: the quorum would stop. {START_THE_OTHERS}")
    try:
        remove_voter(session.client, args.controller_id, directory_id, forced=args.force)
        print(removed_text(args.controller_id, directory_id, dry_run=False))
    except RefusedError as error:
        is_voter = any(voter.replica_id == args.controller_id for voter in quorum.voters)
        if error.error != Errors.VOTER_NOT_FOUND or is_voter or not args.unregister:
            raise
        print(f"KRaft controller {args.controller_id} is not a voter: nothing is left to remove")
    if args.unregister:
        print(unregister(session.client, args.controller_id))


def _add_replace_voter(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print the next step, without making it")
    parser.add_argument(
        "--timeout-ms",
        type=int,
        default=STALL_TIMEOUT_MS,
        metavar="MS",
        help="how long to wait without any progress (default %(default)s)",
    )
    parser.set_defaults(run_operation=_replace_voter)
    parser.needs = (("--command-config",),)


def _replace_voter(args: argparse.Namespace, session: Session) -> None:
    if session.properties is None:
        raise AdminError("replace-voter needs --command-config, the properties file of that controller.")
    replacement = VoterReplacement(
        session.client,
        read_controller_properties(session.properties),
        clock=session.clock,
        say=lambda line: print(escaped(line), flush=True),
        stall_timeout_ms=args.timeout_ms,
    )
    session.await_leader()
    replacement.run(dry_run=args.dry_run)


def _add_may_stop(parser: Parser) -> None:
    parser.add_argument("-i", "--controller-id", type=int, required=True, help="its node.id")
    parser.epilog = (
        "The status is 0 if it may, 1 if not now, 2 if that is not known, and 3 if no time is better, as with"
        " one or two voters. It is no lock: let one process ask, for one controller after the other."
    )
    parser.set_defaults(run_operation=_may_stop)


def _may_stop(args: argparse.Namespace, session: Session) -> None:
    try:
        quorum = session.survey(with_cluster_id=False).quorum
    except AdminError as error:
        raise MayNotStopError(NOT_KNOWN, str(error)) from error
    print(permission_to_stop(quorum, args.controller_id))


def _add_dry_run(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print the steps, and take none")
