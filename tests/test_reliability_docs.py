"""docs/reliability.md is what the catalogue of defects and the markers of tests say, and no test is gone."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests import defect_tables

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reliability.md"

NAMED = re.compile(r"`(tests/[\w./-]+)((?:::\w+)*)`")

ISSUE = re.compile(r"KAFKA-\d+|CVE-[\d-]+\d|strimzi#\d+|kafka-dev#\d+")

DEFECTS_MIN = {defect_tables.OWN: 27, defect_tables.KAFKA: 51}
"""No defect leaves the catalogue."""


@cache
def named_tests() -> defect_tables.Tests:
    return defect_tables.tests_of_defects(ROOT / "tests")


def ids() -> list[str]:
    """Every id and every issue of the catalogue, in order."""
    defects = defect_tables.known_defects()
    own = [row["id"] for row in defects[defect_tables.OWN]]
    return own + [issue for row in defects[defect_tables.KAFKA] for issue in row["issues"]]


def defined_in(path: Path) -> frozenset[str]:
    """Test functions and methods, as pytest names them: name, or Class::name."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
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


def test_the_page_has_the_tables() -> None:
    page = PAGE.read_text()
    assert defect_tables.with_tables(page, named_tests()) == page, "run `make generate`"


def test_every_test_that_is_named_exists() -> None:
    named = NAMED.findall(PAGE.read_text())
    assert len(named) > 100
    assert missing(named) == []


def test_a_test_that_does_not_exist_is_found_out() -> None:
    here = "tests/test_reliability_docs.py"
    good = [(here, ""), (here, "::test_every_test_that_is_named_exists"), ("tests/raft", "")]
    bad = [(here, "::test_renamed"), ("tests/test_gone.py", "::test_it"), (here, "::TestClass::test_it")]
    assert missing(good + bad) == [name + test for name, test in bad]


def test_every_defect_is_noticed_by_a_test_that_names_it() -> None:
    """Who breaks one of them reads in its marker what went wrong before."""
    known = ids()
    assert len(set(known)) == len(known)
    assert [name for name in known if name not in named_tests()] == []
    rows = {name: len(rows) for name, rows in defect_tables.known_defects().items()}
    assert {name: count for name, count in rows.items() if count < DEFECTS_MIN[name]} == {}


def test_every_marker_names_a_known_defect() -> None:
    assert sorted(named_tests().keys() - set(ids())) == []


def test_whatever_names_an_issue_in_the_tests_of_kafkas_bugs_is_in_the_catalogue() -> None:
    known = defect_tables.DEFECTS.read_text()
    issues: set[str] = set()
    for path in sorted((ROOT / "tests/kafkas_bugs").glob("test_*.py")):
        issues.update(ISSUE.findall(path.read_text()))
    assert issues
    assert {issue for issue in issues if issue not in known} == set()


MARKED = {
    "test_one.py": 'pytestmark = [pytest.mark.slow, pytest.mark.prevents("a")]',
    "test_two.py": '@pytest.mark.prevents("a", "b")\nasync def test_it() -> None: ...',
    "test_three.py": 'class TestIt:\n    @pytest.mark.prevents("b")\n    def test_that(self) -> None: ...',
    "test_four.py": '@pytest.mark.slow\ndef test_it() -> None: "pytest.mark.prevents"',
    "testdata/five.txt": "# Five.\n# Prevents: b, c.\nstart\n",
}


def test_each_kind_of_marker_is_read(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    (tests / "testdata").mkdir(parents=True)
    for name, text in MARKED.items():
        (tests / name).write_text(text)
    assert defect_tables.tests_of_defects(tests) == {
        "a": ["tests/test_one.py", "tests/test_two.py::test_it"],
        "b": [
            "tests/test_three.py::TestIt::test_that",
            "tests/test_two.py::test_it",
            "tests/testdata/five.txt",
        ],
        "c": ["tests/testdata/five.txt"],
    }


@pytest.mark.parametrize("name", [defect_tables.OWN, defect_tables.KAFKA])
def test_a_table_of_another_state_is_noticed(name: str) -> None:
    page = PAGE.read_text()
    begin = defect_tables.BEGIN.format(name)
    changed = page.replace(begin, f"{begin}\nA row by hand.\n")
    assert defect_tables.with_tables(changed, named_tests()) == page != changed
