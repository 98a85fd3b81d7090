"""A command with its arguments and exit statuses, read from its parser.

The text is independent of the release of Python, whose argparse formats it in its own ways.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import kraftctl.cli
import kraftctl_spark.cli
from kraftctl.cli.parser import Parser

GENERAL = (argparse._HelpAction, argparse._VersionAction)


@dataclass(frozen=True)
class Argument:
    """A flag with its other names, or a word at a place. `value` is what follows, empty for a switch."""

    names: list[str]
    value: str
    meaning: str
    required: bool

    @property
    def usage(self) -> str:
        """The longest name of a flag, with its value."""
        return f"{max(self.names, key=len)} {self.value}".strip()


@dataclass(frozen=True)
class DocumentedCommand:
    """A command by its words, such as `kraftctl quorum describe`, with its sub-commands in their order."""

    words: str
    summary: str
    arguments: list[Argument]
    one_of: list[list[str]]
    """Groups of flags, by one name each, of which one must be given."""
    epilog: str
    usage_status: int
    subcommands: list[DocumentedCommand]

    def all(self) -> Iterator[DocumentedCommand]:
        """Yields this command and those below it."""
        yield self
        for each in self.subcommands:
            yield from each.all()

    @property
    def usage(self) -> str:
        """One line: required flags, the others as [flags], then the words."""
        flags = [each for each in self.arguments if each.names[0].startswith("-")]
        words = [each.value for each in self.arguments if not each.names[0].startswith("-")]
        needed = [each.usage for each in flags if each.required]
        named = {name: each.usage for each in flags for name in each.names}
        choices = [" | ".join(named[name] for name in names) for names in self.one_of]
        one_of = [f"({text})" if " | " in text else text for text in choices]
        grouped = {name for names in self.one_of for name in names}
        others = [each for each in flags if not each.required and not grouped.intersection(each.names)]
        optional = ["[FLAGS]"] if others else []
        commands = ["COMMAND"] if self.subcommands else []
        return " ".join([self.words, *one_of, *needed, *optional, *words, *commands])


def documented_commands() -> list[DocumentedCommand]:
    """Returns kraftctl and kraftctl-export with all their commands."""
    program, _ = kraftctl.cli.parsers(None)
    commands = [
        _command(kraftctl.cli.parsers(name)[1][name], summary)
        for name, (_, summary) in kraftctl.cli.COMMANDS.items()
    ]
    root = _command(program, program.description or "")
    whole = DocumentedCommand(**{**vars(root), "subcommands": commands})
    export = kraftctl_spark.cli.new_parser()
    return [whole, _command(export, (export.description or "").partition(": ")[2])]


def _command(parser: argparse.ArgumentParser, summary: str) -> DocumentedCommand:
    below: list[DocumentedCommand] = []
    arguments: list[Argument] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below += [_command(each, helps[name]) for name, each in action.choices.items()]
        elif not isinstance(action, GENERAL) and action.help != argparse.SUPPRESS:
            arguments.append(_argument(parser, action))
    return DocumentedCommand(
        words=parser.prog,
        summary=_sentence(summary),
        arguments=arguments,
        one_of=[
            *(
                [action.option_strings[0] for action in group._group_actions if action.option_strings]
                for group in parser._mutually_exclusive_groups
                if group.required
            ),
            *(list(names) for names in (parser.needs if isinstance(parser, Parser) else ())),
        ],
        epilog=" ".join((parser.epilog or "").split()),
        usage_status=parser.usage_status if isinstance(parser, Parser) else 2,
        subcommands=below,
    )


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> Argument:
    meaning = (action.help or "") % {**vars(action), "prog": parser.prog}
    return Argument(
        names=list(action.option_strings) or [action.dest],
        value=_value(action),
        meaning=" ".join(meaning.split()),
        required=action.required and bool(action.option_strings),
    )


def _value(action: argparse.Action) -> str:
    """Returns what is written for the value: the choices, or the metavar, as often as it may be given."""
    if action.nargs == 0:
        return ""
    name = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    text = " ".join(name) if isinstance(name, tuple) else name
    return {"?": f"[{text}]", "*": f"[{text} ...]", "+": f"{text} [{text} ...]"}.get(str(action.nargs), text)


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
