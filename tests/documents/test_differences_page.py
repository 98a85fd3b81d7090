"""Each row of docs/differences.md names tests that exist, so that no difference goes away unnoticed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PAGE = (ROOT / "docs" / "differences.md").read_text()

TEST = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")

ROWS = [
    line for line in PAGE.splitlines() if line.startswith("|") and not re.match(r"\|(--|.*\| test \|$)", line)
]


def named_in(file: str) -> set[str]:
    """The tests of a file, as ::test_name or ::TestClass::test_name."""
    found: set[str] = set()
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(f"::{node.name}")
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"::{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)
            }
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row.split("|")[1].strip()[:40] for row in ROWS])
def test_each_row_names_tests_that_exist(row: str) -> None:
    named = TEST.findall(row)
    assert named
    assert [f"{file}{name}" for file, name in named if name not in named_in(file)] == []


def test_there_are_rows() -> None:
    assert len(ROWS) >= 16


def test_each_test_of_its_file_has_a_row() -> None:
    file = "tests/kafkas_bugs/test_refusals.py"
    tests = {name for name in named_in(file) if name.startswith("::test_")}
    assert tests - {name for _, name in TEST.findall(PAGE)} == set()
