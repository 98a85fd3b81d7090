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

DEFECTS = list(range(1, 28))
CATALOGUE = [
    *range(1, 9), 10, 11, 12, *range(14, 20), *range(22, 27), *range(28, 34), 36, 37, 38, *range(40, 44),
    *range(45, 51), 52, 53, *range(55, 59), *range(60, 64),
]  # fmt: skip

ISSUE = re.compile(r"KAFKA-\d+|CVE-[\d-]+\d|strimzi#\d+|kafka-dev#\d+")

WITHOUT_NAME = frozenset({7, 15, 16, 26, 28, 33, 41, 46, 53, 60})
"""Entries whose tests are about the rule alone, and do not name each issue. Let it get no longer."""

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


def text_of(name: str, test: str) -> str:
    """The source of a named test, or of the whole file when no function of it is named."""
    path = ROOT / name
    if path.is_dir():
        return ""
    text = path.read_text()
    if path.suffix != ".py" or not test:
        return text
    function = test.rsplit("::", 1)[1]
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    return "".join(ast.get_source_segment(text, node) or "" for node in found if node.name == function)


def unnamed(row: str) -> list[str]:
    """The issues of a row that none of its tests names."""
    named = {issue for name, test in NAMED.findall(row) for issue in ISSUE.findall(text_of(name, test))}
    return [issue for issue in ISSUE.findall(row.split(" | ", 1)[0]) if issue not in named]


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


def test_the_tests_of_an_entry_name_its_issues() -> None:
    """Who breaks one of them reads in its failure what went wrong before."""
    assert {number for number, row in rows(CATALOGUE_TITLE).items() if unnamed(row)} <= WITHOUT_NAME


def test_an_issue_that_no_test_names_is_found_out() -> None:
    named = "`tests/kips/test_kip_841.py::test_a_replica_that_is_given_up_on_does_not_join`"
    assert unnamed(f"KAFKA-13916 | C | a rule | {named}") == []
    assert unnamed(f"KAFKA-13916, KAFKA-1 | C | a rule | {named}") == ["KAFKA-1"]


def test_whatever_names_an_issue_in_the_tests_of_kafkas_bugs_is_in_the_catalogue() -> None:
    text = section(CATALOGUE_TITLE)
    for path in sorted((ROOT / "tests").glob("*/test_kafkas*_bugs.py")):
        issues = set(ISSUE.findall(path.read_text()))
        assert issues
        assert {issue for issue in issues if issue not in text} == set()
