"""`kraftctl format`: prepare the directories of a new controller, with the flags of kafka-storage format."""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from kraftctl.cli.add_scram import NO_NAME, has_no_name, scram_record
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.feature_levels import parse_feature_level, parse_release_version
from kraftctl.cli.initial_controllers import parse_initial_controllers, voter_node
from kraftctl.cli.unknown_keys import unknown_keys_of_node
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.metadata import features
from kraftctl.raft.voter_set import VoterSet
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.log_directories import log_directories
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.uuids import random_uuid
from kraftctl_security.config_values import ConfigException
from kraftctl_security.sasl.jaas_file import read_jaas_file

NAME = "format"
PRINTS_ONLY = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--config", required=True, type=Path, help="the properties file of the controller"
    )
    parser.add_argument("-t", "--cluster-id", required=True, help="the cluster id, the same on every node")
    parser.add_argument(
        "-S",
        "--add-scram",
        action="append",
        default=[],
        metavar="CREDENTIAL",
        help="a SCRAM credential for the new cluster: 'SCRAM-SHA-256=[name=USER,password=PASSWORD]' or"
        " 'SCRAM-SHA-512=[name=USER,iterations=N,salt=BASE64,saltedpassword=BASE64]'",
    )
    parser.add_argument(
        "-g",
        "--ignore-formatted",
        action="store_true",
        help="skip directories that are formatted already instead of failing",
    )
    names = features.METADATA_VERSION_NAMES
    parser.add_argument(
        "-r",
        "--release-version",
        help=f"the release whose features the cluster starts with, {names[features.MINIMUM_METADATA_VERSION]}"
        f" or later; default {names[features.DEFAULT_METADATA_VERSION]}",
    )
    parser.add_argument(
        "-f",
        "--feature",
        action="append",
        default=[],
        metavar="FEATURE=LEVEL",
        help="the level of one feature, for example transaction.version=1",
    )
    quorum = parser.add_mutually_exclusive_group()
    quorum.add_argument(
        "-s",
        "--standalone",
        action="store_true",
        help="this controller is the first and only voter of a dynamic quorum",
    )
    quorum.add_argument(
        "-N",
        "--no-initial-controllers",
        action="store_true",
        help="this controller joins a dynamic quorum that exists already",
    )
    quorum.add_argument(
        "-I",
        "--initial-controllers",
        metavar="VOTERS",
        help="the first voters of a dynamic quorum, id@host:port:directory-id,... as for all of them",
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0 when everything is formatted; 1, with the reason on standard error, otherwise."""
    try:
        properties = read_config_file(args.config)
        for sentence in unknown_keys_of_node(properties).values():
            print(sentence, file=sys.stderr)
        config = ControllerConfig(properties, read_jaas_file())
        formatter = _formatter(args, config)
        if any(has_no_name(record) for record in formatter.records):
            print(NO_NAME, file=sys.stderr)
        formatter.format(random.SystemRandom(), Clock().wall_ms(), print)
    except (StorageError, ConfigException, PropertiesError) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as unplaced:
        print(unplaced_error(unplaced), file=sys.stderr)
        return 1
    return 0


def _formatter(args: argparse.Namespace, config: ControllerConfig) -> Formatter:
    if not args.cluster_id.strip():
        raise StorageError("--cluster-id must not be empty. Next step: choose one, the same for every node.")
    unstable = config.unstable_feature_versions_enable
    directories = log_directories(config.originals, config.metadata_log_dir, config.log_dirs)
    return Formatter(
        cluster_id=args.cluster_id,
        node_id=config.node_id,
        log_dirs=directories.log_dirs,
        metadata_log_dir=directories.metadata_log_dir,
        chosen_by=directories.chosen_by,
        has_dynamic_quorum=not config.controller_quorum_voters,
        initial_voters=_initial_voters(args, config),
        release_version=None
        if args.release_version is None
        else parse_release_version(args.release_version, unstable),
        feature_levels=dict(parse_feature_level(argument) for argument in args.feature),
        scram_records=[scram_record(argument) for argument in args.add_scram],
        unstable_feature_versions=unstable,
        ignore_formatted=args.ignore_formatted,
    )


def _initial_voters(args: argparse.Namespace, config: ControllerConfig) -> VoterSet | None:
    """Returns None for a static quorum and for a controller that joins later."""
    if config.controller_quorum_voters:
        if args.standalone or args.initial_controllers is not None:
            raise StorageError(
                "You cannot use --standalone or --initial-controllers while controller.quorum.voters is set:"
                " the quorum would be both static and dynamic. For a dynamic quorum remove"
                " controller.quorum.voters and set controller.quorum.bootstrap.servers."
            )
        return None
    listener_name = config.controller_listener_names[0]
    if args.initial_controllers is not None:
        return parse_initial_controllers(args.initial_controllers, listener_name)
    if args.standalone:
        endpoint = config.advertised_listeners[0]
        directory_id = random_uuid(random.SystemRandom())
        host = endpoint.host or "localhost"
        return VoterSet([voter_node(config.node_id, host, endpoint.port, directory_id, listener_name)])
    if not args.no_initial_controllers:
        raise StorageError(
            "This controller has no controller.quorum.voters, so its first voters have to be named. Next"
            " step: repeat this with --standalone, --initial-controllers or --no-initial-controllers."
        )
    return None
