"""The first screen of README: what it is, two doors, two commands, four figures as they were measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench.compare.figures import FIGURES
from tests.bench.compare.markdown import number
from tests.bench.compare.results import read_results

ROOT = Path(__file__).resolve().parents[2]
PERFORMANCE = (ROOT / "docs/performance.md").read_text()
SCREEN = (ROOT / "README.md").read_text().partition("\n## ")[0]
LINES_MAX = 40

SUBJECTS = ("kraftctl", "java-linger-0")
"""In the order of the columns."""

MEASURED = {
    "the leader of three is killed": ("failover", "kill -9 of the leader", "failover_ms"),
    "memory, 3 brokers": ("idle", "3 brokers", "resident_mib"),
    "restart with 2,000,000 partitions": ("log-2m", "start", "start_s"),
    "processor, 20 brokers": ("idle", "20 brokers", "processor_percent"),
}
"""Row -> scenario, load and figure."""


def rows() -> list[list[str]]:
    lines = [line for line in SCREEN.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_it_is_one_screen_with_two_doors_and_two_commands() -> None:
    assert len(SCREEN.splitlines()) <= LINES_MAX
    assert len(re.findall(r"^- \*\*\[[^\]]+\]\(#[\w-]+\)\*\*", SCREEN, re.MULTILINE)) == 2
    assert re.findall(r"^\$ (make \w+)", SCREEN, re.MULTILINE) == ["make dev", "make test"]
    assert len(rows()) == len(MEASURED)


@pytest.mark.parametrize("name", MEASURED)
def test_a_figure_is_the_published_one(name: str) -> None:
    scenario, load, figure = MEASURED[name]
    (row,) = [row for row in rows() if row[0].startswith(name)]
    results = read_results(ROOT / "docs/performance.json")
    values = [number(results.medians(scenario, load, subject)[figure]) for subject in SUBJECTS]
    unit = FIGURES[figure].unit
    assert [cell.partition(" ")[0] for cell in row[1:3]] == values
    assert all(cell.split()[1] == unit for cell in row[1:3])
    section = PERFORMANCE.partition(f"(`{scenario}`)\n")[2].partition("\n#### ")[0]
    (published,) = re.findall(rf"^\| {load} \| [^|]*\({unit}\) \| (.*) \|$", section, re.MULTILINE)[:1]
    assert [published.split(" | ")[-2], published.split(" | ")[-3]] == values
    assert re.search(rf"\[{scenario}\]\(docs/performance\.md#\S*{scenario}\)", row[3])
