"""What the parts of the matrix found: a file for each part, and the tables of docs/versions.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIRECTORY = ROOT / "build" / "matrix"
PAGE = ROOT / "docs" / "versions.md"
ROWS = ".jsonl"
BEGIN, END = "<!-- begin {part}: written by `make test-matrix` -->\n", "<!-- end -->\n"


def keep(table: str, *row: str) -> None:
    """Adds a row to a table; the name begins with that of the part, which `forget` has emptied."""
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    with open(DIRECTORY / f"{table}{ROWS}", "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def rows(table: str) -> list[list[str]]:
    file = DIRECTORY / f"{table}{ROWS}"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


def forget(part: str) -> None:
    """Removes what an earlier run has kept of a part."""
    for path in DIRECTORY.glob(f"{part}*"):
        path.unlink()


def table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Returns it in Markdown."""
    lines = [header, ["---"] * len(header), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def publish(part: str, text: str, page: Path = PAGE) -> None:
    """Replaces what stands between the markers of the part."""
    before, rest = page.read_text("utf-8").split(BEGIN.format(part=part))
    _, after = rest.split(END, 1)
    page.write_text(f"{before}{BEGIN.format(part=part)}\n{text}\n{END}{after}", "utf-8")
