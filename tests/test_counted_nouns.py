"""Counts in what commands and the console print: one function makes the noun fit the number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_protocol.counted_text import counted, named_by_id

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("kraftctl/cli", "kraftctl/console", "kraftctl/dev", "kraftctl/explain")

COUNTED = re.compile(r"""counted\((?:[^()]|\([^()]*\))*, f?["']([^"']*)["']\)|\|counted\("(\w+)"\)""")
"""A call, in Python and in a template; the noun is the last word of the group."""

COUNT = re.compile(r"len\(.*\)|.*count|.*total\(\)|left")
"""An expression that is a number of something, whatever the noun is."""

LIMIT = re.compile(r"[A-Z_]+|bytes_min|.*\.kind")
"""A limit is more than one; and a kind is no number."""

PLURAL = re.compile(r"\s(?:(?:log|more|other) )?(?!times)([A-Za-z]{3,}s)\b")


def sources() -> list[Path]:
    found = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*"))]
    return [path for path in found if path.suffix in (".py", ".html")]


def nouns() -> set[str]:
    """Every noun that is counted somewhere, in the plural."""
    found = {"".join(each) for path in sources() for each in COUNTED.findall(path.read_text())}
    return {counted(2, each.split()[-1]).removeprefix("2 ") for each in found}


def values_with_text(path: Path) -> Iterator[tuple[str, str]]:
    """Yields each value that is put into a text, with the text behind it; not a number with decimals."""
    if path.suffix == ".html":
        yield from re.findall(r"\{\{ ([^}]*) \}\}( [^{<]*)", path.read_text())
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:], strict=False):
                is_value = isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant)
                if not is_value:
                    continue
                assert isinstance(value, ast.FormattedValue)
                assert isinstance(text, ast.Constant)
                if value.format_spec is None or "," in ast.unparse(value.format_spec):
                    yield ast.unparse(value.value), str(text.value)


def test_every_noun_that_is_counted_fits_its_number() -> None:
    known = nouns()
    assert {"partitions", "brokers", "voters", "records", "topics", "directories", "days"} <= known
    wrong = []
    for path in sources():
        for value, text in values_with_text(path):
            found = PLURAL.match(text)
            if found and (found.group(1) in known or COUNT.fullmatch(value)) and not LIMIT.fullmatch(value):
                wrong.append(f"{path.relative_to(ROOT)}: {{{value}}}{found.group()}")
    assert wrong == [], "use counted() of kraftctl_protocol/counted_text.py"


def test_no_text_begins_with_a_noun_that_another_place_counts() -> None:
    """Such as `brokers are fenced` behind a condition, or in a table."""
    begins = re.compile(r"(\w+s) (?:are|fetch|have|lag)\b")
    known = nouns()
    wrong = [
        f"{path.relative_to(ROOT)}: {node.value}"
        for path in sources()
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and (found := begins.match(node.value))
        and found.group(1) in known
    ]
    assert wrong == []


def test_no_other_function_makes_plurals() -> None:
    """Such as `record{'' if count == 1 else 's'}`."""
    own = re.compile(r"""(["'])(s|y|ies|)\1 if [^"'\n]*(==|!=|>) ?1 else (["'])(s|y|ies|)\4""")
    assert [str(path) for path in sources() if own.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "topic", "0 topics"),
        (1, "topic", "1 topic"),
        (1_200, "partition", "1,200 partitions"),
        (2, "log directory", "2 log directories"),
        (2, "key", "2 keys"),
        (1, "ISR", "1 ISR"),
    ],
)
def test_a_counted_noun(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    ("ids", "text"), [([3], "broker 3"), ([1, 2], "brokers 1 and 2"), ([1, 2, 4], "brokers 1, 2 and 4")]
)
def test_nodes_are_named_by_their_ids(ids: list[int], text: str) -> None:
    assert named_by_id("broker", ids) == text
