"""docs/reliability.md names tests: each of them exists, and no entry of the catalogue is missing."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reliability.md"

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

NAMED = re.compile(r"`(tests/[\w./-]+)((?:::\w+)*)`")
ROW = re.compile(r"^\| (\d+) \| (.*) \|$", re.MULTILINE)

DEFECTS = list(range(1, 25))
CATALOGUE = [
    *range(1, 9), 10, 11, 12, *range(14, 20), *range(22, 27), *range(28, 34), 36, 37, 38, *range(40, 44),
    *range(45, 51), 52, 53, *range(55, 59), *range(60, 64),
]  # fmt: skip

CATALOGUE_TITLE = "## What went wrong in Kafka and near it"
DEFECTS_TITLE = "## Ways to lose data or a quorum"

NOT_BUILT: frozenset[int] = frozenset()
"""Entries about features that do not exist, or only in part; their row says so."""


def section(title: str) -> str:
    """The section from its title to the next one."""
    return PAGE.read_text().split(title + "\n", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> dict[int, str]:
    """Number of the entry -> the rest of the row."""
    found = ROW.findall(section(title))
    numbers = [int(number) for number, _ in found]
    assert len(set(numbers)) == len(numbers), f"a number is there twice: {numbers}"
    return {int(number): rest for number, rest in found}


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Test functions and methods, as pytest names them: name, or Class::name."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {
                f"{node.name}::{entry.name}" for entry in node.body if isinstance(entry, ast.FunctionDef)
            }
    return frozenset(names)


def missing(named: list[tuple[str, str]]) -> list[str]:
    """The named tests that do not exist."""
    found: list[str] = []
    for name, test in named:
        path = ROOT / name
        if not path.exists() or (test and test.removeprefix("::") not in defined_in(path)):
            found.append(name + test)
    return found


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(PAGE.read_text())
    assert len(named) > 100
    assert missing(named) == []


def test_a_test_that_does_not_exist_is_found_out() -> None:
    here = "tests/test_reliability_docs.py"
    good = [(here, ""), (here, "::test_every_test_that_is_named_exists"), ("tests/raft", "")]
    bad = [(here, "::test_renamed"), ("tests/test_gone.py", "::test_it"), (here, "::TestClass::test_it")]
    assert missing(good + bad) == [name + test for name, test in bad]


def test_every_defect_has_its_row_and_a_test() -> None:
    found = rows(DEFECTS_TITLE)
    assert list(found) == DEFECTS
    assert [number for number, text in found.items() if "::test_" not in text] == []


def test_every_entry_of_the_catalogue_has_its_row_and_a_test() -> None:
    found = rows(CATALOGUE_TITLE)
    assert list(found) == CATALOGUE
    without_test = {number for number, text in found.items() if not NAMED.search(text.rsplit(" | ", 1)[1])}
    assert without_test == set()
    assert {number for number, text in found.items() if "Not built" in text} == NOT_BUILT


def test_whatever_names_an_issue_in_the_tests_of_kafkas_bugs_is_in_the_catalogue() -> None:
    text = section(CATALOGUE_TITLE)
    for path in sorted((ROOT / "tests").glob("*/test_kafkas*_bugs.py")):
        issues = set(re.findall(r"KAFKA-\d+|CVE-[\d-]+\d|strimzi#\d+", path.read_text()))
        assert issues
        assert {issue for issue in issues if issue not in text} == set()
