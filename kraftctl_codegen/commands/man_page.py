"""The reference of the commands of one program as a page of `man`."""

from __future__ import annotations

from typing import Final

import kraftctl
from kraftctl_codegen.commands.command import Argument, DocumentedCommand

RELEASE: Final = kraftctl.__version__.partition(".dev")[0]
"""The next release, as a build of it has: a commit in between does not change the page."""


def man_page(program: DocumentedCommand) -> str:
    """Returns the page in the macros of man(7)."""
    name = program.words
    lines = [
        '.\\" Written by `make generate` from the parsers: do not edit.',
        f'.TH {_text(name).upper()} 1 "" "kraftctl {RELEASE}"',
        ".ad l",
        ".SH NAME",
        f"{_text(name)} \\- {_text(program.summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_text(program.usage)}",
        ".SH COMMANDS",
    ]
    for command in program.all():
        if command is not program:
            lines += _section(command)
    lines += [
        ".SH EXIT STATUS",
        "0 after success, 1 if the command could not do what it was asked for, 130 after Ctrl\\-C, and",
        "141 if what reads its output has ended. Wrong arguments have 2, and 1 for commands in place of",
        "Kafka's tools.",
    ]
    return "\n".join(lines) + "\n"


def _section(command: DocumentedCommand) -> list[str]:
    lines = [f".SS {_text(command.words)}", _line(command.summary), ".PP", f".B {_text(command.usage)}"]
    for argument in command.arguments:
        lines += [".TP", f".B {_text(_name(argument))}", _line(argument.meaning)]
    if command.epilog:
        lines += [".PP", _line(command.epilog)]
    return lines


def _name(argument: Argument) -> str:
    if not argument.names[0].startswith("-"):
        return argument.value
    return f"{', '.join(argument.names)} {argument.value}".strip()


def _text(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")


def _line(text: str) -> str:
    """Returns text at the beginning of a line, where a dot or an apostrophe would be a request."""
    escaped = text.replace("\\", "\\e")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
