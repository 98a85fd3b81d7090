"""`kraftctl storage`: the operations, flags and exit statuses of kafka-storage."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from kraftctl.cli import format_storage, random_uuid
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.feature_tables import (
    add_feature_dependencies,
    add_version_mapping,
    feature_dependencies,
    version_mapping,
)
from kraftctl.cli.output import add_output_flag, print_failure, print_output
from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, KafkaToolParser, Parser
from kraftctl.cli.storage.storage_info import storage_info
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_security.config_values import ConfigException
from kraftctl_security.sasl.jaas_file import read_jaas_file

NAME = "storage"
PRINTS_ONLY = False


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    operations = parser.add_subparsers(
        dest="operation", metavar="OPERATION", required=True, parser_class=KafkaToolParser
    )

    def add(name: str, summary: str, run_operation: Callable[[argparse.Namespace], int]) -> Parser:
        operation = operations.add_parser(name, help=summary)
        operation.set_defaults(run_operation=run_operation)
        return operation

    info = add("info", "show the directories of a controller, and what is wrong with them", _info)
    info.add_argument(
        "-c", "--config", required=True, type=Path, help="the properties file of the controller"
    )
    add_output_flag(info)
    format_storage.add_arguments(
        add("format", "prepare the directories of a new controller", format_storage.run)
    )
    random_uuid.add_arguments(add("random-uuid", "print an id for a new cluster", random_uuid.run))
    add_version_mapping(add("version-mapping", "list the levels of a release", version_mapping), "-r")
    add_feature_dependencies(
        add("feature-dependencies", "list what a level requires", feature_dependencies), "-f"
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0; 1 when a directory has a problem, or with the reason on standard error."""
    try:
        status: int = args.run_operation(args)
        return status
    except (ConfigException, StorageError, PropertiesError) as error:
        print_failure(args, str(error))
    except BrokenPipeError:
        raise
    except OSError as unplaced:
        print_failure(args, unplaced_error(unplaced))
    return 1


def _info(args: argparse.Namespace) -> int:
    config = ControllerConfig(read_config_file(args.config), read_jaas_file())
    info = storage_info(config.metadata_log_dir, config.log_dirs)
    print_output(args, info.text(), info.value())
    return 1 if info.problems else 0
