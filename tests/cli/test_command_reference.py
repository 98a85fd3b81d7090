"""The reference of commands and the pages of man have every flag, and each page of man can be shown."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import kraftctl_spark.cli
from kraftctl.cli import COMMANDS, parsers
from kraftctl_codegen.commands.__main__ import rendered
from kraftctl_codegen.commands.command import Argument, documented_commands
from kraftctl_codegen.commands.man_page import man_page
from kraftctl_codegen.commands.markdown import page

ROOT = Path(__file__).parents[2]
MANUALS = sorted((ROOT / "man").glob("*.1"))
FORMATTERS = {
    "groff": ["groff", "-man", "-Tutf8", "-ww"],
    "mandoc": ["mandoc", "-Tutf8", "-Wwarning"],
    "man": ["man", "--warnings", "-l"],
}
FOUND = [each for each in FORMATTERS if shutil.which(each)]


def own_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from own_parsers(below)


def every_parser() -> dict[str, argparse.ArgumentParser]:
    roots = [*(parsers(name)[1][name] for name in COMMANDS), kraftctl_spark.cli.new_parser()]
    return {parser.prog: parser for root in roots for parser in own_parsers(root)}


@pytest.mark.parametrize("path", list(rendered()), ids=str)
def test_the_pages_are_those_of_the_parsers(path: Path) -> None:
    assert (ROOT / path).read_text() == rendered()[path], "run make generate"


def test_every_command_and_flag_is_there() -> None:
    known = {command.words: command for program in documented_commands() for command in program.all()}
    assert set(every_parser()) | {"kraftctl"} == set(known)
    for words, parser in every_parser().items():
        flags = {flag for action in parser._actions for flag in action.option_strings}
        shown = {name for each in known[words].arguments for name in each.names}
        assert flags - {"-h", "--help", "--version"} <= shown, words


def test_every_argument_says_what_it_is_for() -> None:
    silent = [
        (command.words, argument.names)
        for program in documented_commands()
        for command in program.all()
        for argument in command.arguments
        if not argument.meaning
    ]
    assert silent == []


@pytest.mark.parametrize("formatter", FOUND)
@pytest.mark.parametrize("manual", MANUALS, ids=lambda path: path.name)
def test_a_page_of_man_is_shown_without_a_warning(manual: Path, formatter: str) -> None:
    shown = subprocess.run(
        [*FORMATTERS[formatter], manual], capture_output=True, text=True, check=True, timeout=30
    )
    assert shown.stderr == ""
    assert manual.stem in shown.stdout


def test_what_roff_would_take_for_itself_is_escaped() -> None:
    program = documented_commands()[0]
    first = program.subcommands[0]
    hostile = Argument(["--a-b"], "X", ".so it is \\n", "", required=False)
    first.arguments[:] = [hostile]
    text = man_page(program)
    assert ".B \\-\\-a\\-b X\n\\&.so it is \\en\n" in text


def test_a_cell_of_the_page_holds_a_bar() -> None:
    program = documented_commands()[0]
    program.subcommands[0].arguments[:] = [Argument(["--x"], "a|b", "a <b> | c", "", required=True)]
    assert "| `--x` `a\\|b` (required) | a &lt;b> \\| c |  |" in page([program])
