"""`kraftctl doctor FILE`: what will not work in a properties file and around it, with the next step."""

from __future__ import annotations

import argparse
from dataclasses import replace

from kraftctl.cli.config_file import add_config_file_arguments
from kraftctl.cli.doctor.checks import KEYS_CHECK, diagnoses
from kraftctl.cli.doctor.diagnosis import ERROR, STATUS_CANNOT_TELL, WARN, Diagnosis, status_of
from kraftctl.cli.doctor.result_forms import json_of, text_of
from kraftctl.cli.doctor.subject import read_subject
from kraftctl.cli.output import print_failure
from kraftctl.cli.parser import Parser
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.file_errors import file_error

NAME = "doctor"
PRINTS_ONLY = True


def add_arguments(parser: Parser) -> None:
    add_config_file_arguments(parser)
    parser.add_argument("--offline", action="store_true", help="ask no other controller")
    parser.add_argument("--output", choices=["text", "json"], default="text", help="default: text")
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="say whether metadata.version can be raised, and which nodes prevent it; reads the whole log",
    )
    parser.epilog = (
        "The status is 0 if there is nothing worse than a warning, 10 if there are errors, 1 if a check could"
        " not be carried out, and 2 for wrong arguments. The controller may be running."
    )


def run(args: argparse.Namespace) -> int:
    return examine(args, NAME, with_upgrade=args.upgrade)


def examine(args: argparse.Namespace, command: str, *, with_upgrade: bool, is_strict: bool = False) -> int:
    """Prints what the checks find, and returns the exit status. With `is_strict`, unknown keys are errors."""
    try:
        subject = read_subject(args.file, args.override, Clock(), is_offline=args.offline)
    except (OSError, StorageError) as error:
        text = file_error("read", args.file, error) if isinstance(error, OSError) else str(error)
        print_failure(args, f"kraftctl {command}: {text}", findings=[])
        return STATUS_CANNOT_TELL
    found = diagnoses(subject, with_upgrade=with_upgrade)
    if is_strict:
        found = [(name, _strict(name, each)) for name, each in found]
    print(json_of(subject, found) if args.output == "json" else text_of(subject, found))
    return status_of([each for _, each in found])


def _strict(name: str, each: Diagnosis) -> Diagnosis:
    return replace(each, level=ERROR) if name == KEYS_CHECK and each.level == WARN else each
