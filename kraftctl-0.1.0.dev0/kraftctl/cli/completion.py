"""`kraftctl completion`: the code with which a shell completes sub-commands, flags and files of `kraftctl`.

A shell runs `kraftctl` with _ARGCOMPLETE in its environment, and `complete` responds from the parsers.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Final

from kraftctl.cli.parser import Parser
from kraftctl_protocol.extra_packages import install_command

try:
    import argcomplete
    from argcomplete.shell_integration import shellcode
except ModuleNotFoundError:
    IS_INSTALLED = False
else:
    IS_INSTALLED = True

NAME: Final = "completion"
PRINTS_ONLY: Final = True

PROGRAM: Final = "kraftctl"

ARGCOMPLETE: Final = "argcomplete"

MISSING: Final = "kraftctl completion: the package argcomplete is not installed. Next step: {}"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=["bash", "fish", "zsh"], help="the shell that is to read it")


def run(args: argparse.Namespace) -> int:
    """Returns 0, or 1 without the library."""
    if not IS_INSTALLED:
        print(MISSING.format(install_command(NAME, [ARGCOMPLETE])), file=sys.stderr)
        return 1
    print(shellcode([PROGRAM], shell=args.shell))
    return 0


def command_in(environment: Mapping[str, str]) -> str | None:
    """Returns the sub-command of the line that is being completed: its flags are in a parser of its own."""
    words = environment.get("COMP_LINE", "").split()[1:]
    return next((word for word in words if not word.startswith("-")), None)


def complete(parser: argparse.ArgumentParser) -> None:
    """Writes the completions to the descriptor of the shell, and ends the process."""
    if IS_INSTALLED:
        argcomplete.autocomplete(parser)
    os._exit(1)
