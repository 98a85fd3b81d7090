"""`kraftctl shell`: one command, or those that standard input has line by line. It changes nothing."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from kraftctl.cli.parser import KAFKAS_USAGE_STATUS, Parser
from kraftctl.cli.shell.image_tree import root_node
from kraftctl.cli.shell.loaded_metadata import load_metadata
from kraftctl.cli.shell.shell_commands import MetadataShell, ShellError
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.file_errors import file_error

NAME = "shell"
PRINTS_ONLY = True

PROMPT = ">> "


def add_arguments(parser: Parser) -> None:
    parser.usage_status = KAFKAS_USAGE_STATUS
    parser.add_argument(
        "-s",
        "--snapshot",
        required=True,
        type=Path,
        metavar="FILE",
        help="a snapshot, a segment of the log, or a directory with both",
    )
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="show salts and keys of SCRAM, and the values of configurations that may be secret",
    )
    parser.add_argument(
        "words", nargs="*", metavar="COMMAND", help="ls, cat, tree, find, cd or pwd; see help"
    )


def run(args: argparse.Namespace) -> int:
    """Returns 0; 1, with the reason on standard error, when the file or the command is wrong."""
    try:
        loaded = load_metadata(args.snapshot)
    except StorageError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(file_error("read", args.snapshot, error, named_by="--snapshot"), file=sys.stderr)
        return 1
    if loaded.cut is not None:
        print(loaded.cut, file=sys.stderr)
    open_transaction = loaded.leave_out_open_transaction()
    if open_transaction:
        print(open_transaction, file=sys.stderr)
    shell = MetadataShell(root_node(loaded, show_secrets=args.show_secrets))
    if args.words:
        return _run_command(shell, args.words)
    for line in _lines():
        try:
            words = shlex.split(line)
        except ValueError as error:
            print(f"{escaped(line)}: {error}", file=sys.stderr)
            continue
        if words and words[0] in ("exit", "quit"):
            break
        if words:
            _run_command(shell, words)
    return 0


def _lines() -> Iterator[str]:
    """Yields lines; a prompt is for terminals only."""
    prompt = PROMPT if sys.stdin.isatty() else ""
    while True:
        try:
            yield input(prompt)
        except EOFError:
            return


def _run_command(shell: MetadataShell, words: list[str]) -> int:
    try:
        for line in shell.run(words):
            print(line)
    except ShellError as error:
        print(escaped(str(error), keep="\n"), file=sys.stderr)
        return 1
    return 0
