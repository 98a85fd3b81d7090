"""Minutes of simulation with seeds that no test has had before; the first is printed."""

from __future__ import annotations

import os
import random

import pytest

from tests.soak.simulate import Runs

MINUTES = float(os.environ.get("KRAFTCTL_SIMULATED_MINUTES", "3"))

pytestmark = pytest.mark.slow


def test_nothing_is_found_in_random_runs(capsys: pytest.CaptureFixture[str]) -> None:
    first_seed = random.SystemRandom().randrange(10**9)
    with capsys.disabled():
        print(f"\nsimulated clusters for {MINUTES:g} minutes, first seed {first_seed}", flush=True)
        runs = Runs("mixed")
        runs.run_for(first_seed, minutes=MINUTES)
        runs.report(first_seed)
    assert runs.finds == 0
