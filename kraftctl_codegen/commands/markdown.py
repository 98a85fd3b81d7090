"""The reference of commands as a page of the documentation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kraftctl_codegen.commands.command import Argument, DocumentedCommand

HEAD: Final = """# Commands

`make generate` writes this page and the pages of `man` from the parsers of the commands; `-h` after a command
shows the same arguments. `kraftctl completion SHELL` completes commands and flags.

## Exit statuses

| status | when |
|---|---|
| 0 | it has done what it was asked for |
| 1 | it could not; the last lines on standard error say why, with the next step |
| 1 | for these, as for Kafka's tools, wrong arguments too: {kafkas} |
| 2 | wrong arguments, for all others |
| 130 | Ctrl-C |
| 141 | what reads its output has ended, as `head` does |

Where a command has more of them, they are with the command.
"""


def page(commands: Sequence[DocumentedCommand]) -> str:
    """Returns the page with every command."""
    every = [command for program in commands for command in program.all()]
    kafkas = [
        f"`{command.words}`"
        for command in every
        if command.usage_status == 1 and command.words.count(" ") == 1
    ]
    parts = [HEAD.format(kafkas=", ".join(kafkas))]
    parts += map(_section, every)
    return "\n".join(parts)


def _section(command: DocumentedCommand) -> str:
    depth = min(command.words.count(" ") + 2, 4)
    lines = [f"{'#' * depth} {command.words}", "", command.summary, "", "```text", command.usage, "```", ""]
    if command.subcommands:
        lines += ["| command | what it does |", "|---|---|"]
        lines += [f"| {_link(each)} | {_cell(each.summary)} |" for each in command.subcommands]
        lines.append("")
    if command.arguments:
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [_row(argument) for argument in command.arguments]
        lines.append("")
    if command.epilog:
        lines += [command.epilog, ""]
    return "\n".join(lines)


def _link(command: DocumentedCommand) -> str:
    return f"[`{command.words}`](#{command.words.replace(' ', '-')})"


def _row(argument: Argument) -> str:
    if argument.names[0].startswith("-"):
        name = ", ".join(f"`{each}`" for each in argument.names)
        name += f" `{_cell(argument.value)}`" if argument.value else ""
    else:
        name = f"`{_cell(argument.value)}`"
    need = " (required)" if argument.required else ""
    return f"| {name}{need} | {_cell(argument.meaning)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
