"""`kraftctl explain`: why a broker, a partition, a topic, a reassignment or the quorum is as it is.

It reads and changes nothing. The status is 0 when there is an explanation, 1 with the reason when there is
none, and 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from kraftctl.cli.admin.admin_client import parse_bootstrap
from kraftctl.cli.admin.client_config import ClientConfig, parse_client_config
from kraftctl.cli.admin.errors import AdminError, RefusedError
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.explain.leader_view import leader_view_of
from kraftctl.cli.explain.log_source import read_directory, read_quorum
from kraftctl.cli.parser import Parser
from kraftctl.cli.quorum.quorum_survey import LEADER_WAIT_MS, NoLeaderError, QuorumSurvey
from kraftctl.cli.unknown_keys import unknown_keys_of_client
from kraftctl.explain.controller_status import UnusableStatusError, contacts_of
from kraftctl.explain.evidence import BrokerContact, ClusterEvidence, LeaderView, NoLeaderView
from kraftctl.explain.explanation import (
    Explanation,
    UnknownSubjectError,
    explanation_json,
    explanation_text,
)
from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_feature import explain_feature
from kraftctl.explain.why_partition import explain_partition, split_partition_name
from kraftctl.explain.why_quorum import explain_no_leader, explain_quorum
from kraftctl.explain.why_reassignment import explain_reassignment, explain_reassignments
from kraftctl.explain.why_topic import explain_topic
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.config_values import ConfigException

NAME = "explain"
PRINTS_ONLY = True

ALL_MS = 4_000
"""Until then a leader has to respond, so that a reason is printed within five seconds."""

READ_MS_MIN = 1_000

STDIN = Path("-")

Explainer = Callable[[ClusterEvidence, argparse.Namespace], Explanation]


class StatusError(Exception):
    """The argument of --status cannot be used."""


def add_arguments(parser: Parser) -> None:
    subjects = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    broker = subjects.add_parser("broker", help="why a broker is fenced, leaves, or is not registered")
    broker.add_argument("broker_id", type=int, metavar="ID")
    broker.set_defaults(explainer=lambda evidence, args: explain_broker(evidence, args.broker_id))
    partition = subjects.add_parser("partition", help="why it has no leader, or another, or few in sync")
    partition.add_argument("partition", type=_partition_name, metavar="TOPIC-PARTITION")
    partition.set_defaults(explainer=lambda evidence, args: explain_partition(evidence, *args.partition))
    topic = subjects.add_parser("topic", help="the worst that its partitions have, and why")
    topic.add_argument("topic", metavar="TOPIC")
    topic.set_defaults(explainer=lambda evidence, args: explain_topic(evidence, args.topic))
    reassignment = subjects.add_parser("reassignment", help="what running reassignments wait for")
    reassignment.add_argument(
        "partition", type=_partition_name, nargs="?", metavar="TOPIC-PARTITION", help="without it, all"
    )
    reassignment.set_defaults(explainer=_reassignment)
    quorum = subjects.add_parser("quorum", help="who leads, which voters lag, or why there is no leader")
    quorum.set_defaults(explainer=lambda evidence, _: explain_quorum(evidence))
    feature = subjects.add_parser("feature", help="which node keeps a feature from a higher level")
    feature.add_argument("feature", metavar="NAME", help="such as metadata.version")
    feature.add_argument("--level", type=int, help="the level to reach; by default the highest")
    feature.set_defaults(explainer=lambda evidence, args: explain_feature(evidence, args.feature, args.level))
    controller = subjects.add_parser("controller", help="whether it is a voter, an observer or a ghost")
    controller.add_argument("controller_id", type=int, metavar="ID")
    controller.set_defaults(explainer=lambda evidence, args: explain_controller(evidence, args.controller_id))
    for subject in subjects.choices.values():
        _add_source_flags(subject)


def _add_source_flags(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--bootstrap-controllers",
        metavar="HOST:PORT,...",
        help="controllers of a running quorum, those of Kafka as well",
    )
    source.add_argument(
        "--directory", type=Path, metavar="DIR", help="metadata.log.dir of a controller, running or not"
    )
    parser.add_argument(
        "--assume-committed",
        action="store_true",
        help="with --directory: also what is behind the last snapshot, in a quorum of several voters",
    )
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client properties: ssl.*, sasl.*, ..."
    )
    parser.add_argument(
        "--status",
        type=Path,
        metavar="FILE",
        help="/status.json of the active controller, - for standard input: it knows ages of heartbeats",
    )
    parser.add_argument("--output", choices=["text", "json"], default="text")


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 with the reason on standard error."""
    properties = None
    try:
        if args.command_config is not None:
            properties = read_config_file(args.command_config)
            for sentence in unknown_keys_of_client(properties).values():
                print(f"{args.command_config}: {sentence}", file=sys.stderr)
        config = parse_client_config({} if properties is None else properties)
        explanation, now_ms, end_offset = _explain(args, config)
        if args.output == "json":
            print(json.dumps(explanation_json(explanation, now_ms, end_offset)))
        else:
            print(explanation_text(explanation, now_ms))
    except BrokenPipeError:
        raise
    except (
        AdminError,
        ConfigException,
        DecodeError,
        ObserverError,
        PropertiesError,
        StatusError,
        StorageError,
        UnknownSubjectError,
    ) as error:
        text = str(error) if properties is None else properties.hide(str(error))
        print(f"kraftctl explain: {escaped(text, keep=chr(10))}", file=sys.stderr)
        return 1
    except OSError as unplaced:
        print(unplaced_error(unplaced), file=sys.stderr)
        return 1
    return 0


def _explain(args: argparse.Namespace, config: ClientConfig) -> tuple[Explanation, int, int | None]:
    """Returns the explanation, its time, and the end of what was read, if anything was."""
    clock = Clock()
    contacts = {} if args.status is None else _read_status(args.status)
    explainer: Explainer = args.explainer
    if args.directory is not None:
        log = read_directory(args.directory, _watched(args), assume_committed=args.assume_committed)
        # It may be a copy: what it does not have yet is not known.
        evidence = ClusterEvidence(log, log.last_timestamp_ms, contacts=contacts)
    else:
        began_ms = clock.now_ms()
        bootstrap = parse_bootstrap(args.bootstrap_controllers)
        try:
            view = _ask_leader(bootstrap, config, clock)
        except NoLeaderError as error:
            if args.subject != "quorum":
                raise
            found = NoLeaderView(error.asked_count, error.answered_count, error.lines)
            return explain_no_leader(found), clock.wall_ms(), None
        left_ms = max(READ_MS_MIN, began_ms + ALL_MS - clock.now_ms())
        log = read_quorum(bootstrap, config, left_ms / 1000, _watched(args))
        evidence = ClusterEvidence(log, clock.wall_ms(), view, contacts)
    if log.unknown_records:
        count, types = log.unknown_records.total(), sorted(log.unknown_records)
        print(f"{count} records of types {types}, which a newer release wrote, are left out", file=sys.stderr)
    return explainer(evidence, args), evidence.now_ms, log.end_offset


def _ask_leader(bootstrap: list[tuple[str, int]], config: ClientConfig, clock: Clock) -> LeaderView | None:
    """Returns None, and says so, when the quorum may not be described: the log may still be read."""
    survey = QuorumSurvey(
        bootstrap,
        to_controllers=True,
        config=config,
        clock=clock,
        wait_ms=min(config.default_api_timeout_ms, LEADER_WAIT_MS),
        with_cluster_id=False,
    )
    try:
        return leader_view_of(survey.run().quorum)
    except RefusedError as error:
        print(escaped(f"What the leader knows of replicas is left out: {error}"), file=sys.stderr)
        return None


def _read_status(file: Path) -> dict[int, BrokerContact]:
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text(encoding="utf-8")
        return contacts_of(json.loads(text))
    except (ValueError, RecursionError, UnusableStatusError) as error:
        raise StatusError(f"--status {file} cannot be used: {error}") from error


def _watched(args: argparse.Namespace) -> Callable[[str], bool]:
    """Returns which topics are asked about: the times of their partitions are noted."""
    if args.subject == "topic":
        return lambda name: name == args.topic
    if args.subject in ("partition", "reassignment"):
        named = args.partition
        return lambda name: named is None or name == named[0]
    return lambda _: False


def _partition_name(text: str) -> tuple[str, int]:
    try:
        return split_partition_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _reassignment(evidence: ClusterEvidence, args: argparse.Namespace) -> Explanation:
    if args.partition is None:
        return explain_reassignments(evidence)
    return explain_reassignment(evidence, *args.partition)
