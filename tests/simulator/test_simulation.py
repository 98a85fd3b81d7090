"""A few seeds of every profile; and the same seed is the same run, whatever Python does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.effort import seeds
from tests.support.simulator.faults.plan import PROFILES, SETTINGS, draw_plan
from tests.support.simulator.faults.shrink import shrink
from tests.support.simulator.simulation import Simulation

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "tests/soak/simulate.py"

COMPILED = os.environ.get("KRAFTCTL_UNDER_TEST") == "compiled"


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_nothing_is_found(profile: str, seed: int) -> None:
    Simulation(draw_plan(seed, profile)).run()


def transcript(seed: int, hash_seed: int, *, compiled: bool) -> str:
    """A checksum of every event and effect of the run, with its time."""
    code = {"PYTHONSAFEPATH": "1"} if compiled else {"PYTHONPATH": f"{ROOT}:{ROOT}/protocol:{ROOT}/spark"}
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    ran = subprocess.run(
        [sys.executable, PROGRAM, "--seed", str(seed), "--runs", "1", "--transcript"],
        cwd=ROOT,
        env={**kept, **code, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize("seed", [3, 25])
def test_the_same_seed_is_the_same_run(seed: int) -> None:
    """Under two hash seeds; compiled and from source, where both are installed."""
    first = transcript(seed, 1, compiled=COMPILED)
    assert int(first.split()[0]) > 500, "lines"
    assert transcript(seed, 2, compiled=COMPILED) == first
    if COMPILED:
        assert transcript(seed, 3, compiled=False) == first


def test_a_find_is_shrunk_to_what_causes_it() -> None:
    plan = next(plan for seed in range(100) if len((plan := draw_plan(seed, "quorum")).happenings) > 20)
    kinds = [happening.kind for happening in plan.happenings]
    culprits = {kinds.index("restart"), len(kinds) - 1 - kinds[::-1].index("join")}
    needed = {plan.happenings[index] for index in culprits}
    reduced = shrink(plan, lambda other: needed <= set(other.happenings), 60)
    assert set(reduced.kept or ()) == culprits
    assert reduced.calm == set(SETTINGS)
