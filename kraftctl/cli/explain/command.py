"""`kraftctl explain`: why a broker, a partition, a topic, a reassignment or the quorum is as it is.

It reads and changes nothing. The statuses are those of `kraftctl health`: 0 when nothing is wrong, 10 when
something is, 1 when that cannot be said, and 2 for wrong arguments.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

from kraftctl.cli.admin.bootstrap import parse_bootstrap
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.explain.leader_view import leader_view_of
from kraftctl.cli.explain.log_source import read_directory, read_history, read_quorum
from kraftctl.cli.health.forms import STATUSES
from kraftctl.cli.output import print_failure
from kraftctl.cli.parser import Parser
from kraftctl.cli.quorum.quorum_survey import LEADER_WAIT_MS, NoLeaderError, QuorumSurvey
from kraftctl.cli.unknown_keys import unknown_keys_of_client
from kraftctl.explain.as_of import AsOf, NotKnownError, as_of_json, as_of_text, parse_as_of
from kraftctl.explain.commit_watch import LOOK_AGAIN_MS, CommitWatch
from kraftctl.explain.controller_status import (
    UnusableStatusError,
    contacts_of,
    left_out_of,
    why_of_another_time,
)
from kraftctl.explain.evidence import ClusterEvidence, LeaderView, NoLeaderView, connection_of
from kraftctl.explain.explanation import (
    NOT_KNOWN,
    Explanation,
    UnknownSubjectError,
    explanation_json,
    explanation_text,
)
from kraftctl.explain.replayed_log import ReplayedLog, left_out_text
from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_feature import explain_feature
from kraftctl.explain.why_partition import explain_partition, split_partition_name
from kraftctl.explain.why_quorum import explain_no_leader, explain_quorum
from kraftctl.explain.why_reassignment import explain_reassignment, explain_reassignments
from kraftctl.explain.why_topic import explain_topic
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_admin.client_config import ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError, RefusedError
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

NOT_AMONG_COMMITTED = (
    "it is not in what is known to be committed; held back are {}. "
    "Next step: add --assume-committed, or ask the controllers (--bootstrap-controllers)"
)

SAME_TIME = "read both at the same time"
WITH_THE_REST = "add --assume-committed, as held back are"

STDIN = Path("-")

Explainer = Callable[[ClusterEvidence, argparse.Namespace], Explanation]


class UnusableFlagError(Exception):
    """The argument of a flag cannot be used."""


def add_arguments(parser: Parser) -> None:
    subjects = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    broker = subjects.add_parser("broker", help="why a broker is fenced, leaves, or is not registered")
    broker.add_argument("broker_id", type=int, metavar="ID", help="its id")
    broker.set_defaults(explainer=lambda evidence, args: explain_broker(evidence, args.broker_id))
    partition = subjects.add_parser("partition", help="why it has no leader, or another, or few in sync")
    partition.add_argument(
        "partition", type=_partition_name, metavar="TOPIC-PARTITION", help="such as orders-0"
    )
    partition.set_defaults(explainer=lambda evidence, args: explain_partition(evidence, *args.partition))
    topic = subjects.add_parser("topic", help="the worst that its partitions have, and why")
    topic.add_argument("topic", metavar="TOPIC", help="its name")
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
    controller.add_argument("controller_id", type=int, metavar="ID", help="its id")
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
    source.add_argument(
        "--history",
        type=Path,
        metavar="DIR",
        help="the tables of kraftctl-export run, which go back further than a log",
    )
    parser.add_argument(
        "--as-of",
        type=_place,
        metavar="OFFSET|TIME",
        help="with --directory or --history: how it was then, as 2026-11-21T12:00:00Z",
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
    parser.add_argument("--output", choices=["text", "json"], default="text", help="default: text")


def run(args: argparse.Namespace) -> int:
    """Returns the status of the verdict; without an explanation, its reason is on standard error."""
    properties = None
    try:
        if args.command_config is not None:
            properties = read_config_file(args.command_config)
            for sentence in unknown_keys_of_client(properties).values():
                print(f"{args.command_config}: {sentence}", file=sys.stderr)
        config = parse_client_config({} if properties is None else properties)
        explanation, now_ms, log = _explain(args, config)
        _print(args, explanation, now_ms, log)
        return STATUSES[explanation.verdict]
    except BrokenPipeError:
        raise
    except (
        AdminError,
        ConfigException,
        DecodeError,
        NotKnownError,
        ObserverError,
        PropertiesError,
        StorageError,
        UnknownSubjectError,
        UnusableFlagError,
    ) as error:
        text = str(error) if properties is None else properties.hide(str(error))
        print_failure(args, f"kraftctl explain: {escaped(text, keep=chr(10))}", verdict=NOT_KNOWN)
    except OSError as unplaced:
        print_failure(args, unplaced_error(unplaced), verdict=NOT_KNOWN)
    return STATUSES[NOT_KNOWN]


def _print(args: argparse.Namespace, explanation: Explanation, now_ms: int, log: ReplayedLog | None) -> None:
    """Prints the explanation; of a directory, which may be a copy, also of when it is."""
    if args.output == "json":
        found = explanation_json(explanation, now_ms, None if log is None else log.end_offset)
        print(json.dumps(found if log is None else {**found, **as_of_json(log)}))
        return
    print(explanation_text(explanation, now_ms))
    if args.bootstrap_controllers is None and log is not None:
        print(as_of_text(log, None if args.as_of is None else args.as_of[1]))


def _explain(args: argparse.Namespace, config: ClientConfig) -> tuple[Explanation, int, ReplayedLog | None]:
    """Returns the explanation, its time, and the log that was read, if one was."""
    clock = Clock()
    if args.as_of is not None and (args.bootstrap_controllers is not None or args.status is not None):
        raise UnusableFlagError("--as-of is for --directory and --history, and a --status is of now")
    status = None if args.status is None else _read_status(args.status)
    explainer: Explainer = args.explainer
    if args.bootstrap_controllers is None:
        log = _read_past(args)
        # It may be a copy: what it does not have yet is not known.
        _, as_of = args.as_of or ("", AsOf())
        evidence = ClusterEvidence(log, as_of.now_ms(log))
    else:
        began_ms = clock.now_ms()
        bootstrap = parse_bootstrap(args.bootstrap_controllers)
        try:
            view = _ask_leader(bootstrap, config, clock)
        except NoLeaderError as error:
            if args.subject != "quorum":
                raise
            found = NoLeaderView(
                error.asked_count, error.answered_count, error.lines, error.unreached_leader_id
            )
            return explain_no_leader(found), clock.wall_ms(), None
        left_ms = max(READ_MS_MIN, began_ms + ALL_MS - clock.now_ms())
        connection = connection_of(args.bootstrap_controllers, args.command_config)
        log = read_quorum(bootstrap, config, left_ms / 1000, _watched(args))
        evidence = ClusterEvidence(log, clock.wall_ms(), view, connection=connection)
    if log.unknown_records:
        print(left_out_text(log.unknown_records), file=sys.stderr)
    if status is not None:
        evidence = _with_status(evidence, status)
    try:
        return explainer(evidence, args), evidence.now_ms, log
    except UnknownSubjectError as error:
        if not log.held_back:
            raise
        raise NotKnownError(NOT_AMONG_COMMITTED.format(log.held_back)) from error


def _with_status(evidence: ClusterEvidence, status: object) -> ClusterEvidence:
    """Adds what a status says of brokers; one of another time is left out, and a line says so."""
    why = why_of_another_time(status, evidence.log)
    if why:
        step = f"{WITH_THE_REST} {evidence.log.held_back}" if evidence.log.held_back else SAME_TIME
        print(f"--status is left out: {why}. Next step: {step}", file=sys.stderr)
        return evidence
    return replace(evidence, contacts=contacts_of(status), left_out_contacts=left_out_of(status))


def _read_past(args: argparse.Namespace) -> ReplayedLog:
    """Reads a directory or a history, up to the place that is asked about."""
    place, as_of = (None, None) if args.as_of is None else args.as_of
    if args.history is not None:
        return read_history(args.history, _watched(args), place)
    committed = args.assume_committed
    return read_directory(args.directory, _watched(args), assume_committed=committed, as_of=as_of)


def _ask_leader(bootstrap: list[tuple[str, int]], config: ClientConfig, clock: Clock) -> LeaderView | None:
    """Returns None, and says so, when the quorum may not be described: the log may still be read.

    While records are not committed the leader is asked again: that is normal only for a moment.
    """
    commits = CommitWatch()
    try:
        while True:
            survey = QuorumSurvey(
                bootstrap,
                to_controllers=True,
                config=config,
                clock=clock,
                wait_ms=min(config.default_api_timeout_ms, LEADER_WAIT_MS),
                with_cluster_id=False,
            )
            quorum = survey.run().quorum
            uncommitted_ms = quorum.uncommitted_ms(commits, clock.now_ms())
            if not commits.is_open:
                return leader_view_of(quorum, uncommitted_ms)
            Event().wait(LOOK_AGAIN_MS / 1000)
    except RefusedError as error:
        print(escaped(f"What the leader knows of replicas is left out: {error}"), file=sys.stderr)
        return None


def _read_status(file: Path) -> object:
    """Returns the status of an active controller."""
    try:
        text = sys.stdin.read() if file == STDIN else file.read_text(encoding="utf-8")
        status: object = json.loads(text)
        contacts_of(status)
    except (ValueError, RecursionError, UnusableStatusError) as error:
        raise UnusableFlagError(f"--status {file} cannot be used: {error}") from error
    return status


def _watched(args: argparse.Namespace) -> Callable[[str], bool]:
    """Returns which topics are asked about: the times of their partitions are noted."""
    if args.subject == "topic":
        return lambda name: name == args.topic
    if args.subject in ("partition", "reassignment"):
        named = args.partition
        return lambda name: named is not None and name == named[0]
    return lambda _: False


def _partition_name(text: str) -> tuple[str, int]:
    try:
        return split_partition_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _place(text: str) -> tuple[str, AsOf]:
    try:
        return text, parse_as_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _reassignment(evidence: ClusterEvidence, args: argparse.Namespace) -> Explanation:
    if args.partition is None:
        return explain_reassignments(evidence)
    return explain_reassignment(evidence, *args.partition)
