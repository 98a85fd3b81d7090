"""The generated part of docs/reliability-report.md."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chaos import report as program
from tests.chaos.figures import commit
from tests.chaos.report import BEGIN, END, PAGE, SCENARIOS, main, report, run_all, runs_of, write_page

RUN: dict[str, Any] = {
    "controllers": "kafka",
    "brokers": 0,
    "kind of faults": "usual",
    "seed": 7,
    "commit": commit(),
    "minutes": 2.5,
    "faults": {"kill leader": 3, "pause follower": 1},
    "outcomes": {},
    "epochs": 4,
    "records": 100,
    "history": {"keys": 2, "operations": 50, "unknown": 3, "sequential reads": 5},
    "operations": {"reassignment list": 50},
    "violations": ["reassignment reassignment-1: no order allows this\n  states before it: None"],
    "undecided": ["topic topic-1: undecided: 20001 configurations at it"],
    "found": "the histories: ...",
}


def test_runs_of_one_scenario_add_up() -> None:
    text = report([RUN, {**RUN, "seed": 8, "violations": [], "found": ""}])
    assert "| Kafka | 0 | usual | 2 | 5.0 | 8 | 8 | 200 | 4 | 100 | 6 | 10 | 1 | 2 |" in text
    assert text.startswith("Of 2 runs, 5.0 minutes with faults; commit ")
    assert "- **Kafka**: 1 histories without an order, 2 undecided; 1 of 2 runs found something." in text
    assert "**kraftctl**" not in text
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


SOUND = {**RUN, "controllers": "kraftctl", "violations": [], "found": ""}


def figures_in(directory: Path, *runs: dict[str, Any]) -> Path:
    """A directory as `--figures` has it; a find's directory is in it, too."""
    figures = directory / "figures"
    (figures / "chaos-7-find").mkdir(parents=True, exist_ok=True)
    (figures / "chaos-7-find/other.json").write_text("no figures")
    for number, one in enumerate(runs):
        (figures / f"run-{number}.json").write_text(json.dumps(one))
    return figures


def page_in(directory: Path, runs_count: int) -> Path:
    page = directory / "page.md"
    page.write_text(f"before\n{BEGIN}\nOf {runs_count} runs\n{END}after\n")
    return page


def status_of(
    monkeypatch: pytest.MonkeyPatch, page: Path, figures: Path, options: Sequence[str] = ("--hours=0",)
) -> int:
    monkeypatch.setattr(program, "PAGE", page)
    monkeypatch.setattr(sys, "argv", ["report.py", f"--figures={figures}", *options])
    return main()


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (SOUND, 0),
        (RUN, 0),
        ({**SOUND, "found": "the histories: ..."}, 1),
        ({**SOUND, "found": "broke: OSError()"}, 1),
        ({**SOUND, "controllers": "kafka", "found": "broke: KeyboardInterrupt()"}, 1),
    ],
    ids=["sound", "a find of Kafka", "a find of kraftctl", "kraftctl broke", "Kafka broke"],
)
def test_a_find_of_kraftctl_or_a_run_that_broke_fails(
    run: dict[str, Any], status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_in(tmp_path, 1)
    assert status_of(monkeypatch, page, figures_in(tmp_path, run)) == status
    assert (run["violations"] or [run["found"] or "- none"])[0].split("\n")[0] in page.read_text()


def test_figures_of_another_commit_are_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {name: value for name, value in SOUND.items() if name != "commit"}
    page = page_in(tmp_path, 0)
    assert status_of(monkeypatch, page, figures_in(tmp_path, other, {**SOUND, "commit": "abc"})) == 1
    assert runs_of(page) == 0
    assert status_of(monkeypatch, page, figures_in(tmp_path, other, SOUND)) == 0
    assert runs_of(page) == 1


def test_a_page_of_more_runs_is_replaced_only_if_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, figures = page_in(tmp_path, 2), figures_in(tmp_path, SOUND)
    assert status_of(monkeypatch, page, figures) == 1
    assert runs_of(page) == 2
    assert status_of(monkeypatch, page, figures, ["--hours=0", "--replace"]) == 0
    assert runs_of(page) == 1


@pytest.mark.parametrize(
    ("found", "status", "failure"),
    [
        ("", 0, ""),
        ("a find", 1, ""),
        ("", 1, "ended with 1, which its figures do not explain"),
        ("a find", 0, "ended with 0, which its figures do not explain"),
        (None, 0, "ended with 0 and wrote no figures"),
        (None, 2, "ended with 2 and wrote no figures"),
    ],
)
def test_a_status_that_figures_do_not_explain_is_a_failure(
    found: str | None, status: int, failure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures that an earlier run of this seed has left do not help."""
    (tmp_path / "kraftctl-0-usual-7.json").write_text(json.dumps({**SOUND, "found": "older"}))
    fake = tmp_path / "fake.py"
    writes = f"open(path, 'w').write({json.dumps({**SOUND, 'found': found})!r})" if found is not None else ""
    fake.write_text(f"import sys\npath = sys.argv[-1].partition('=')[2]\n{writes}\nsys.exit({status})\n")
    monkeypatch.setattr(program, "PROGRAM", fake)
    failures = run_all(0.001, 7, tmp_path, SCENARIOS[:1])
    assert [line.partition("the run ")[2] for line in failures] == ([failure] if failure else [])
