"""`make test` in lanes: all tests are in one of them, once, and what fails in one fails the whole."""

from __future__ import annotations

import subprocess
import sys

from tests.lanes import ALL, APART, QUICK, ROOT


def test_every_folder_is_in_one_compiled_lane() -> None:
    """Either it has a lane of its own, or it is among the others."""
    compiled = [lane.arguments for lane in ALL if lane.compiled]
    others = ("tests", *(f"--ignore={folder}" for folder in APART))
    assert sorted(compiled) == sorted([*((folder,) for folder in APART), others])
    assert all((ROOT / folder).is_dir() for folder in APART)


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
