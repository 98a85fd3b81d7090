"""`make test` in lanes: every test is in exactly one lane, and a failure in one lane fails the run."""

from __future__ import annotations

import subprocess
import sys

from tests.lanes import ALL, APART, EXPORTS, QUICK, QUORUMS, ROOT, SIMULATION


def test_every_folder_is_in_one_compiled_lane() -> None:
    """Tests that a lane leaves out are in exactly one other lane."""
    compiled = [lane.arguments for lane in ALL if lane.compiled]
    named = [word for words in compiled for word in words if not word.startswith("-")]
    left_out = [
        word.removeprefix("--ignore=") for words in compiled for word in words if word.startswith("--ignore=")
    ]
    assert sorted(named) == sorted(["tests", *left_out])
    assert sorted(left_out) == sorted([*APART, SIMULATION, *EXPORTS, *QUORUMS])
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_no_two_lanes_share_ports() -> None:
    for lanes in (QUICK, ALL):
        taken = [set(range(*map(int, lane.ports.split("-")))) for lane in lanes]
        assert len(set().union(*taken)) == sum(len(ports) for ports in taken)


def lanes(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "tests/lanes.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_lane_without_a_selected_test_is_no_failure() -> None:
    ran = lanes("quick", "-k", "test_one_seed_is_one_history")
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.splitlines()[-1].endswith("all passed")


def test_but_none_at_all_is() -> None:
    ran = lanes("quick", "-k", "no_test_has_this_name")
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1].endswith("FAILED: no test was selected")


def test_a_lane_that_fails_is_named() -> None:
    ran = lanes("quick", "-k", "test_one_seed_is_one_history", "--no-such-option")
    assert ran.returncode == 1
    assert ran.stdout.splitlines()[-1].endswith("FAILED: core, codec")
