"""The generated part of docs/reliability-report.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.chaos.report import BEGIN, END, PAGE, report, write_page

RUN: dict[str, Any] = {
    "controllers": "kafka",
    "brokers": 0,
    "kind of faults": "usual",
    "seed": 7,
    "minutes": 2.5,
    "faults": {"kill leader": 3, "pause follower": 1},
    "outcomes": {},
    "epochs": 4,
    "records": 100,
    "history": {"keys": 2, "operations": 50, "unknown": 3, "sequential reads": 5},
    "operations": {"reassignment list": 50},
    "violations": ["reassignment reassignment-1: no order allows this\n  states before it: None"],
    "found": "the histories: ...",
}


def test_runs_of_one_scenario_add_up() -> None:
    text = report([RUN, {**RUN, "seed": 8, "violations": [], "found": ""}])
    assert "| Kafka | 0 | usual | 2 | 5.0 | 8 | 8 | 200 | 4 | 100 | 6 | 10 | 1 |" in text
    assert "| kill leader | 0 | 6 |" in text
    assert (
        "- Kafka, seed 7, 2.5 minutes, 0 brokers, usual faults, keys: 1 reassignment: `reassignment" in text
    )
    assert "seed 8" not in text


def test_only_the_part_of_the_runs_is_written(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}old\n{END}after\n")
    write_page(page, "new\n")
    assert page.read_text() == f"before\n{BEGIN}\nnew\n\n{END}after\n"


def test_the_page_has_the_part() -> None:
    text = PAGE.read_text()
    assert text.count(BEGIN) == text.count(END) == 1
