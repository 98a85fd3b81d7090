"""Minutes of simulated clusters with seeds that no run has had before: nothing is found."""

from __future__ import annotations

import os
import random

import pytest

from tests.soak.simulate import Runs

MINUTES = float(os.environ.get("KRAFTCTL_SIMULATED_MINUTES", "3"))

SHRINKING_MINUTES = 10
"""A find is repeated with fewer and fewer faults."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout((MINUTES + SHRINKING_MINUTES) * 60)]


def test_random_runs_find_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    first_seed = random.SystemRandom().randrange(10**9)
    with capsys.disabled():
        print(f"\nsimulated clusters for {MINUTES:g} minutes, first seed {first_seed}", flush=True)
        runs = Runs("mixed")
        runs.run_for(first_seed, minutes=MINUTES)
        runs.report(first_seed)
    assert runs.finds == 0, "see FIND above; each has a line that repeats it"
