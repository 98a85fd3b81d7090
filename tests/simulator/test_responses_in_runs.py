"""Which responses a simulation checks: what occurs in runs has a rule, or a reason why it has none."""

from __future__ import annotations

import logging
from collections import Counter

import pytest

from kraftctl_protocol.errors import Errors
from tests.support.simulator.checks.read_rules import NOT_OF_THE_LOG, READS
from tests.support.simulator.checks.refusal_reasons import NOT_CHECKED
from tests.support.simulator.faults.plan import PROFILES, draw_plan
from tests.support.simulator.simulation import Simulation

KNOWN = {(request.NAME.removesuffix("Request"), Errors(code).name) for request, code in NOT_CHECKED}


def counted(profile: str, seeds: range) -> Counter[tuple[str, str, str]]:
    """API, code, and how it was checked, in some runs."""
    found: Counter[tuple[str, str, str]] = Counter()
    logging.disable(logging.CRITICAL)
    try:
        for seed in seeds:
            simulation = Simulation(draw_plan(seed, profile))
            simulation.run()
            found += simulation.checks.responses.counts
    finally:
        logging.disable(logging.NOTSET)
    return found


def without_rule(counts: Counter[tuple[str, str, str]]) -> set[tuple[str, str]]:
    return {(api, code) for api, code, how in counts if how == "not checked"} - KNOWN


def test_every_code_that_occurs_has_a_rule_or_a_reason() -> None:
    counts = counted("mixed", range(3))
    assert without_rule(counts) == set()
    assert any(how == "checked" and code == "NOT_CONTROLLER" for _, code, how in counts)
    assert any(code == "read" for _, code, _ in counts)


@pytest.mark.long
@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("profile", PROFILES)
def test_every_code_that_occurs_in_many_runs(profile: str) -> None:
    counts = counted(profile, range(100 if profile == "mixed" else 20))
    assert without_rule(counts) == set()
    others = sum(count for (*_, how), count in counts.items() if how == "on another branch")
    assert others * 10 <= counts.total()


def test_a_read_is_checked_in_one_place() -> None:
    assert not set(READS) & set(NOT_OF_THE_LOG)
