"""Minutes of simulated clusters with seeds that no run has had before; what they find is reported.

It fails the test only where KRAFTCTL_FINDS_FAIL is set: a find may be much older than the change at hand.
"""

from __future__ import annotations

import os
import random
import warnings

import pytest

from tests.soak.simulate import Runs

MINUTES = float(os.environ.get("KRAFTCTL_SIMULATED_MINUTES", "3"))

SHRINKING_MINUTES = 10
"""A find is repeated with fewer and fewer faults."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout((MINUTES + SHRINKING_MINUTES) * 60)]


def test_finds_in_random_runs_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    first_seed = random.SystemRandom().randrange(10**9)
    with capsys.disabled():
        print(f"\nsimulated clusters for {MINUTES:g} minutes, first seed {first_seed}", flush=True)
        runs = Runs("mixed")
        runs.run_for(first_seed, minutes=MINUTES)
        runs.report(first_seed)
    if runs.finds:
        warnings.warn(f"{runs.finds} finds, see FIND above; each has a line that repeats it", stacklevel=1)
    assert not (runs.finds and os.environ.get("KRAFTCTL_FINDS_FAIL"))
