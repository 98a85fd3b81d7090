"""Runs that were clean before have to stay so; minutes with seeds that no run has had before are reported.

A find with a new seed may be much older than the change at hand. It fails where KRAFTCTL_FINDS_FAIL is set.
"""

from __future__ import annotations

import os
import random
import warnings

import pytest

from tests.soak.simulate import SimulationRuns
from tests.support.simulator.coverage import missing

MINUTES = float(os.environ.get("KRAFTCTL_SIMULATED_MINUTES", "0.5"))

SHRINKING_MINUTES = 10
"""A find is repeated with fewer and fewer faults."""

KNOWN_SEEDS = [
    pytest.param(seed, marks=[pytest.mark.long] if seed >= 57_000_100 else [])
    for seed in range(57_000_000, 57_000_800, 50)
]
"""The first of `KNOWN_RUNS` each."""

KNOWN_RUNS = 50

NOT_REACHED_MAX = 8
"""Of the record types and outcomes of APIs that a long series has to reach."""

SUPERVISED_RUNS = 25

FORMER_FINDS = [
    pytest.param("narrow", 81_000_778, id="vote-of-a-voter-that-was-removed-meanwhile"),
    pytest.param("narrow", 82_000_862, id="brokers-in-an-epoch-that-a-lost-directory-had"),
    pytest.param("narrow", 111_003_456, id="end-of-a-recovery-that-survives-the-process"),
    pytest.param("narrow", 92_310_242, id="registration-that-was-lost-with-its-process"),
    pytest.param("narrow", 9_034, id="adopted-while-a-supervisor-deletes-votes"),
    pytest.param("narrow", 6_046, id="adopted-without-a-record-while-a-supervisor-deletes-votes"),
    pytest.param("mixed", 5_000_109, id="heartbeat-in-slices-that-a-former-leader-answers"),
    pytest.param("mixed", 3_006_010, id="adopted-before-the-first-vote-was-written"),
    pytest.param("mixed", 3_008_734, id="transaction-that-ends-while-its-leader-waits-for-the-disk"),
    pytest.param("mixed", 3_018_882, id="epochs-of-a-voter-that-no-log-has-any-more"),
    pytest.param("mixed", 3_002_558, id="fencing-in-a-transaction-that-is-aborted"),
    pytest.param("mixed", 6_011_666, id="fetch-that-waited-for-its-turn-while-a-later-epoch-was-joined"),
    pytest.param("mixed", 8_606_414, id="removal-before-a-fetch-of-a-voter-without-power-has-come"),
    pytest.param("mixed", 8_708_812, id="tail-lost-where-no-controller-looks-for-an-unclean-shutdown"),
    pytest.param("moves", 582, id="all-voters-have-moved-meanwhile"),
]
"""With the workload with which they were found."""

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("profile", "seed"), FORMER_FINDS)
def test_former_finds_stay_corrected(profile: str, seed: int) -> None:
    runs = SimulationRuns(profile, shrinks=False)
    runs.run_for(seed, runs=1)
    assert runs.finds == 0


@pytest.mark.parametrize("first_seed", KNOWN_SEEDS)
def test_nothing_is_found_in_known_runs(first_seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        runs = SimulationRuns("mixed", shrinks=False)
        runs.run_for(first_seed, runs=KNOWN_RUNS)
    assert runs.finds == 0
    not_reached = missing(runs.counts)
    assert len(not_reached) <= NOT_REACHED_MAX, not_reached


def test_nothing_is_found_where_quorum_state_is_deleted_before_each_start() -> None:
    """As Strimzi's start script does, in all controllers."""
    runs = SimulationRuns("supervised", shrinks=False)
    runs.run_for(1, runs=SUPERVISED_RUNS)
    assert runs.finds == 0


@pytest.mark.timeout((MINUTES + SHRINKING_MINUTES) * 60)
def test_finds_in_random_runs_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    first_seed = random.SystemRandom().randrange(10**9)
    with capsys.disabled():
        print(f"\nsimulated clusters for {MINUTES:g} minutes, first seed {first_seed}", flush=True)
        runs = SimulationRuns("mixed")
        runs.run_for(first_seed, minutes=MINUTES)
        runs.report(first_seed)
    if runs.finds:
        warnings.warn(f"{runs.finds} finds, see FIND above; each has a line that repeats it", stacklevel=1)
    assert not (runs.finds and os.environ.get("KRAFTCTL_FINDS_FAIL"))
