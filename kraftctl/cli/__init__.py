"""The `kraftctl` command: finds the module of a sub-command and runs it."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from typing import NoReturn, Protocol, cast

import kraftctl
from kraftctl.cli.first_process import end_on_sigterm
from kraftctl.cli.parser import KafkaToolParser, Parser
from kraftctl_security.standard_output import GuardedOutput, guarded

COMMANDS = {
    "start": ("kraftctl.cli.start", "run a controller until SIGTERM or SIGINT"),
    "format": ("kraftctl.cli.format_storage", "prepare the directories of a new controller"),
    "container": ("kraftctl.cli.container.command", "run the controller of a container, from variables"),
    "storage": ("kraftctl.cli.storage.command", "show or prepare the directories of a controller"),
    "doctor": (
        "kraftctl.cli.doctor.command",
        "look for what will not work in a properties file and around it",
    ),
    "health": ("kraftctl.cli.health.command", "say whether a quorum and its brokers are healthy"),
    "debug-bundle": ("kraftctl.cli.debug_bundle", "collect what a question needs, without secrets"),
    "random-uuid": ("kraftctl.cli.random_uuid", "print an id for a new cluster"),
    "quorum": ("kraftctl.cli.quorum.command", "describe the quorum of controllers"),
    "features": ("kraftctl.cli.features.command", "describe or change the levels of features"),
    "cluster": ("kraftctl.cli.cluster.command", "name a cluster and its nodes, or unregister a node"),
    "explain": ("kraftctl.cli.explain.command", "say why a broker, a partition or the quorum is as it is"),
    "console": ("kraftctl.cli.console.command", "serve a page about a running quorum, trouble first"),
    "end-recovery": ("kraftctl.cli.end_recovery", "let a controller vote again that has lost its votes"),
    "end-halt": ("kraftctl.cli.end_halt", "let a controller start again that has halted"),
    "dump": ("kraftctl.cli.dump", "show what a log, a snapshot or a directory contains"),
    "shell": ("kraftctl.cli.shell.command", "look around in the metadata of a snapshot or a log"),
    "inspect": ("kraftctl.cli.inspect.command", "list the metrics and the keys of a controller"),
    "completion": ("kraftctl.cli.completion", "print the code by which a shell completes these commands"),
    "dev": ("kraftctl.cli.dev", "run a small cluster with real Kafka brokers on this machine"),
}


END_OF_OPTIONS = "--"

COMPLETING = "_ARGCOMPLETE"
"""A shell sets it for `kraftctl completion`, whose module nothing else has to load."""

PRIVATE_UMASK = 0o077
"""What a command writes, libraries included, is closed to other accounts."""

KAFKAS = ("format", "random-uuid")
"""Sub-commands of kafka-storage, which have its exit status for wrong arguments."""


class Command(Protocol):
    """The interface of a sub-command's module."""

    NAME: str

    PRINTS_ONLY: bool
    """Whether it ends without a reader of its output (`| head`). Other commands finish their work."""

    def add_arguments(self, parser: Parser) -> None: ...

    def run(self, args: argparse.Namespace) -> int:
        """Returns the exit status; 0 is success."""
        ...


def main(argv: list[str] | None = None) -> int:
    """Runs one sub-command and imports only its module, so that `start` starts quickly."""
    end_on_sigterm()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names have characters that a terminal in Latin-1, or a log in ASCII, has not.
        sys.stdout.reconfigure(errors="backslashreplace")
    with guarded("kraftctl") as output:
        return _run(argv, output)


def _run(argv: list[str] | None, output: GuardedOutput | None) -> int:
    if argv is None and COMPLETING in os.environ:
        _complete()
    arguments = sys.argv[1:] if argv is None else argv
    chosen = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser, command_parsers = parsers(chosen)
    args, unknown = parser.parse_known_args(arguments)
    if unknown and unknown != [END_OF_OPTIONS]:
        # Print the usage of that command, not of all of them.
        command_parsers.get(args.command, parser).error(f"unrecognized arguments: {' '.join(unknown)}")
    if args.command is None:
        parser.print_help()
        return 2
    command = _load(args.command)
    if output is not None:
        output.ends_without_reader = command.PRINTS_ONLY
    previous = os.umask(PRIVATE_UMASK)
    try:
        return command.run(args)
    except KeyboardInterrupt:
        return 130
    finally:
        os.umask(previous)


def _complete() -> NoReturn:
    completion = importlib.import_module(COMMANDS["completion"][0])
    parser, _ = parsers(completion.command_in(os.environ))
    completion.complete(parser)
    sys.exit(1)


def parsers(chosen: str | None) -> tuple[Parser, dict[str, Parser]]:
    """Returns the parser, and those of the sub-commands by name; only the chosen one has arguments."""
    parser = Parser(prog="kraftctl", description="A KRaft controller for unmodified Apache Kafka brokers.")
    parser.add_argument("--version", action="version", version=f"kraftctl {kraftctl.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, (_, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if name in KAFKAS:
            command.usage_status = KafkaToolParser.usage_status
        if name == chosen:
            _load(name).add_arguments(command)
    return parser, commands.choices


def _load(name: str) -> Command:
    module, _ = COMMANDS[name]
    return cast(Command, importlib.import_module(module))
