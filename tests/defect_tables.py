"""Writes the tables of defects into a page: `python tests/defect_tables.py docs/reliability.md`.

`known_defects.toml` says what went wrong and which rule must hold; the marker `prevents` of a test, or a line
`# Prevents: ...` of a transcript, says which test notices otherwise.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
DEFECTS: Final = ROOT / "tests" / "known_defects.toml"

OWN: Final = "own"
KAFKA: Final = "kafka"
BEGIN: Final = (
    "<!-- begin {}: written by `make generate` from tests/known_defects.toml and markers of tests -->\n"
)
END: Final = "<!-- end -->\n"

MARKER: Final = "pytest.mark.prevents"
TRANSCRIPT: Final = re.compile(r"^# Prevents: (.*)\.$", re.MULTILINE)

OWN_HEADER: Final = "| defect | what happened | rule | tests |\n|---|---|---|---|\n"
KAFKA_HEADER: Final = (
    "| issue | area | what must hold here | tests that fail otherwise |\n|---|---|---|---|\n"
)

Tests = dict[str, list[str]]
"""Id of a defect -> the tests that notice it, `file::name`, in order."""


def tests_of_defects(root: Path) -> Tests:
    """The tests below `root` that name a defect; files are relative to the parent of `root`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("*.py")) + sorted(root.rglob("testdata/*.txt")):
        text = path.read_text()
        marked = _marked(text) if path.suffix == ".py" else _of_transcript(text)
        for test, defects in marked:
            for defect in defects:
                found[defect].append(path.relative_to(root.parent).as_posix() + test)
    return dict(found)


def _of_transcript(text: str) -> Iterator[tuple[str, list[str]]]:
    for line in TRANSCRIPT.findall(text):
        yield "", line.split(", ")


def _marked(text: str) -> Iterator[tuple[str, list[str]]]:
    """Name of a test, empty for the whole file, and the ids that its marker has."""
    if MARKER not in text:
        return
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield "", _ids(ast.walk(node.value))
        elif isinstance(node, ast.ClassDef):
            for entry in node.body:
                if isinstance(entry, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield f"::{node.name}::{entry.name}", _ids(entry.decorator_list)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"::{node.name}", _ids(node.decorator_list)


def _ids(nodes: Iterable[ast.AST]) -> list[str]:
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == MARKER]
    return [
        str(argument.value) for call in calls for argument in call.args if isinstance(argument, ast.Constant)
    ]


def known_defects() -> dict[str, list[dict[str, Any]]]:
    """The rows of both tables, in order."""
    return tomllib.loads(DEFECTS.read_text())


def with_tables(page: str, tests: Tests) -> str:
    """`page` with the rows between its marks."""
    defects = known_defects()
    page = _between(page, OWN, OWN_HEADER + "".join(_own_row(row, tests) for row in defects[OWN]))
    return _between(page, KAFKA, KAFKA_HEADER + "".join(_kafka_row(row, tests) for row in defects[KAFKA]))


def _between(page: str, name: str, table: str) -> str:
    before, begin, rest = page.partition(BEGIN.format(name))
    _, _, after = rest.partition(END)
    return f"{before}{begin}\n{table}\n{END}{after}"


def _own_row(row: dict[str, Any], tests: Tests) -> str:
    return _row(row["id"], _line(row["defect"]), _line(row["rule"]), _named(tests.get(row["id"], [])))


def _kafka_row(row: dict[str, Any], tests: Tests) -> str:
    issues = row["issues"]
    named = list(dict.fromkeys(test for issue in issues for test in tests.get(issue, [])))
    rule = f"{_line(row['rule'])} {row.get('note', '')}".strip()
    return _row(", ".join(issues), row["area"], rule, _named(sorted(named)))


def _line(text: str) -> str:
    return " ".join(text.split())


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _named(tests: list[str]) -> str:
    """The names, with each file once: `tests/a.py::test_b`, `::test_c`."""
    names: list[str] = []
    last = ""
    for test in tests:
        file, _, name = test.partition("::")
        names.append(f"`::{name}`" if file == last and name else f"`{test}`")
        last = file
    return ", ".join(names)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_tables(path.read_text(), tests_of_defects(ROOT / "tests")))
