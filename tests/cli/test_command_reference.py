"""The reference of commands and the pages of man have every flag, and each page of man can be shown."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import kraftctl
import kraftctl_spark.cli
from kraftctl.cli import COMMANDS, main, parsers
from kraftctl.cli.parser import Parser
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


def test_a_flag_with_a_default_says_it() -> None:
    """The pages have no column for it, which was empty for nearly all."""
    silent = [
        (words, action.option_strings)
        for words, parser in every_parser().items()
        for action in parser._actions
        if action.option_strings and action.default not in (None, False, argparse.SUPPRESS, [])
        if "default" not in (action.help or "") and f"[{action.default}]" not in (action.help or "")
    ]
    assert silent == []


BOOTSTRAP = "(--bootstrap-server HOST:PORT,... | --bootstrap-controller HOST:PORT,...)"


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("quorum describe", f"{BOOTSTRAP} (--status | --replication) [FLAGS]"),
        ("quorum add-controller", f"{BOOTSTRAP} --command-config FILE [FLAGS]"),
        ("quorum may-stop", f"{BOOTSTRAP} --controller-id CONTROLLER_ID [FLAGS]"),
        ("features describe", f"{BOOTSTRAP} [FLAGS]"),
        ("features disable", f"{BOOTSTRAP} --feature FEATURE [FLAGS]"),
        ("features version-mapping", "[FLAGS]"),
        ("cluster unregister", f"{BOOTSTRAP} --id ID [FLAGS]"),
        ("console", "(--bootstrap-controllers HOST:PORT,... | --directory DIR) [FLAGS]"),
    ],
)
def test_a_usage_has_what_the_command_needs(words: str, usage: str) -> None:
    known = {command.words: command for program in documented_commands() for command in program.all()}
    assert known[f"kraftctl {words}"].usage == f"kraftctl {words} {usage}"


@pytest.mark.parametrize(
    "words",
    [words for words, parser in every_parser().items() if getattr(parser, "needs", ())],
)
def test_what_a_usage_says_is_needed_is_asked_for(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the first group that is missing a flag is named."""
    parser = every_parser()[words]
    assert isinstance(parser, Parser)
    given = [
        text
        for action in parser._actions
        if action.required and action.option_strings
        for text in (action.option_strings[0], "1")
    ]
    for index, group in enumerate(parser.needs):
        before = [text for names in parser.needs[:index] for text in (names[-1], "127.0.0.1:1")]
        assert main([*words.split()[1:], *given, *before]) == 1
        printed = capsys.readouterr().err
        assert any(name in printed for name in group), printed


@pytest.mark.parametrize("manual", MANUALS, ids=lambda path: path.name)
def test_a_page_of_man_has_the_version(manual: Path) -> None:
    assert f'"kraftctl {kraftctl.__version__.partition(".dev")[0]}"' in manual.read_text().splitlines()[1]


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
    hostile = Argument(["--a-b"], "X", ".so it is \\n", required=False)
    first.arguments[:] = [hostile]
    text = man_page(program)
    assert ".B \\-\\-a\\-b X\n\\&.so it is \\en\n" in text


def test_a_cell_of_the_page_holds_a_bar() -> None:
    program = documented_commands()[0]
    program.subcommands[0].arguments[:] = [Argument(["--x"], "a|b", "a <b> | c", required=True)]
    assert "| `--x` `a\\|b` (required) | a &lt;b> \\| c |" in page([program])
