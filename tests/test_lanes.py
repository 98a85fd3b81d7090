"""`make test` in lanes: every test is in exactly one lane, and a failure in one lane fails the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests import lanes
from tests.lanes import (
    APART,
    CODEC,
    CORE,
    EXPORTS,
    LONG,
    NEVER_COMPILED,
    QUICK,
    QUORUMS,
    ROOT,
    RULES,
    SIMULATION,
    TEST,
    Lane,
)


def test_every_folder_is_in_one_compiled_lane() -> None:
    """Tests that a lane leaves out are in exactly one other lane."""
    compiled = [lane.arguments for lane in TEST if lane.compiled]
    named = [word for words in compiled for word in words if not word.startswith("-")]
    left_out = [
        word.removeprefix("--ignore=") for words in compiled for word in words if word.startswith("--ignore=")
    ]
    assert sorted(named) == sorted(["tests", *left_out])
    assert sorted(left_out) == sorted([*APART, *CORE, *CODEC, *RULES, SIMULATION, *EXPORTS, *QUORUMS])
    assert [path for path in (*named, *NEVER_COMPILED) if not (ROOT / path).exists()] == []


def test_no_two_lanes_share_ports() -> None:
    for tier in (QUICK, TEST, LONG):
        taken = [set(range(*map(int, lane.ports.split("-")))) for lane in tier]
        assert len(set().union(*taken)) == sum(len(ports) for ports in taken)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, list[str]]]:
    """Runs two small lanes with options: the status, and the lines printed."""
    file = tmp_path / "test_small.py"
    file.write_text("def test_sound():\n    pass\n\n\ndef test_wrong():\n    assert [1] == [2]\n")
    small = tuple(Lane(name, (str(file),), "0-1", compiled=False) for name in ("one", "two"))
    monkeypatch.setitem(lanes.TIERS, "small", small)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # Hypothesis alone takes a second to import.

    def run_lanes(*options: str) -> tuple[int, list[str]]:
        monkeypatch.setattr("sys.argv", ["lanes.py", "small", *options])
        return lanes.main(), capsys.readouterr().out.splitlines()

    return run_lanes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "status", "verdict"),
    [
        pytest.param(("-k", "sound"), 0, "all passed", id="passed"),
        pytest.param(("-k", "no_test_has_this_name"), 1, "FAILED: no test was selected", id="none-selected"),
        pytest.param(("--no-such-option",), 1, "FAILED: one, two", id="not-run"),
        pytest.param((), 1, "FAILED: one, two", id="failed"),
    ],
)
def test_the_last_line_is_the_result(
    run: Callable[..., tuple[int, list[str]]], options: tuple[str, ...], status: int, verdict: str
) -> None:
    ended, lines = run(*options)
    assert ended == status
    assert lines[-1].startswith("2 lanes in ")
    assert lines[-1].endswith(f": {verdict}")


@pytest.mark.slow
def test_the_lines_before_it_name_what_failed(run: Callable[..., tuple[int, list[str]]]) -> None:
    named = [line.split(" - ") for line in run()[1][-3:-1]]
    assert [name.split()[:2] for name, _ in named] == [["one", "FAILED"], ["two", "FAILED"]]
    assert {(name.split("::")[1], reason) for name, reason in named} == {("test_wrong", "assert [1] == [2]")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "status", "line"),
    [
        pytest.param("true", 0, "1 passed", id="built"),
        pytest.param("echo cannot be compiled; false", 1, "not run", id="not-built"),
    ],
)
def test_compiled_lanes_follow_the_build(
    run: Callable[..., tuple[int, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
    build: str,
    status: int,
    line: str,
) -> None:
    """And those of the sources do not wait for it."""
    one, two = lanes.TIERS["small"]
    compiled = replace(two, markers="not compiled", compiled=True)
    monkeypatch.setitem(lanes.TIERS, "small", (one, compiled))
    monkeypatch.setattr(lanes, "BUILD", ("sh", "-c", build))
    monkeypatch.setattr(lanes, "CLASS_ARCHIVE", "this")
    monkeypatch.setattr(lanes, "environment", lambda lane: {**os.environ, "PYTHONPATH": lanes.SOURCES})
    ended, lines = run("-k", "sound")
    assert ended == status
    assert [each.split()[0] for each in lines[-4:-1]] == ["build", "one", "two"]
    assert line in lines[-2]
    assert "1 passed" in lines[-3]


@pytest.mark.slow
def test_a_lane_without_a_selected_test_is_no_failure(run: Callable[..., tuple[int, list[str]]]) -> None:
    one, two = lanes.TIERS["small"]
    lanes.TIERS["small"] = (one, replace(two, markers="java"))
    assert run("-k", "sound")[0] == 0


@pytest.mark.slow
def test_a_lane_behind_has_a_lower_priority(
    run: Callable[..., tuple[int, list[str]]], tmp_path: Path
) -> None:
    file = tmp_path / "test_priority.py"
    file.write_text("import os\n\n\ndef test_sound():\n    print('nice', os.nice(0))\n")
    one, two = (replace(lane, arguments=("-s", str(file))) for lane in lanes.TIERS["small"])
    lanes.TIERS["small"] = (one, replace(two, behind=True))
    status, lines = run()
    assert status == 0
    priorities = {line.split()[0]: int(line.split()[-1]) for line in lines if " nice " in line}
    assert priorities == {one.name: os.nice(0), two.name: os.nice(0) + 10}
