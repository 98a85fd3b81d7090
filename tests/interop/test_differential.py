"""Kafka's controller and kraftctl answer the same calls alike: new ones, and those that once differed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.differential.found import FOUND
from tests.differential.known import KnownDifferences
from tests.differential.rounds import Judge, Round, with_what_follows
from tests.differential.run import judge_of, main
from tests.differential.sides import AUTHORIZER, Setting

pytestmark = pytest.mark.interop

KAFKA = "4.3.1"
MINUTES = 0.6

LONG_SESSIONS = {"broker.session.timeout.ms": "3600000"}
"""No broker is fenced because it was heard of in an earlier list: nothing keeps their sessions."""


@pytest.fixture(scope="module")
def judge() -> Judge:
    return judge_of(KAFKA)


def test_what_once_differed_does_not_differ_again(judge: Judge, tmp_path: Path) -> None:
    this = Round(judge, Setting(KAFKA, "4.3-IV0", True, {**AUTHORIZER, **LONG_SESSIONS}), tmp_path)
    known = KnownDifferences(KAFKA)
    try:
        assert known.unknown(this.start()) == []
        for name, calls in FOUND.items():
            for call in with_what_follows(calls):
                found = [each.signature for each in known.unknown(this.make(call))]
                assert (name, call, found) == (name, call, [])
    finally:
        this.pair.stop()


@pytest.mark.long
def test_random_calls_are_answered_alike() -> None:
    """`make differential SEED=n` repeats it: pytest shows the output with the seed and the calls."""
    seed = random.SystemRandom().randrange(10**6)
    assert main(["--seed", str(seed), "--minutes", str(MINUTES), "--kafka", KAFKA]) == 0


def test_the_tool_finds_nothing_between_kraftctl_and_itself() -> None:
    """Whatever it finds otherwise is not of its own making."""
    assert main(["--itself", "--seed", "1", "--calls", "150", "--release", "4.3-IV0"]) == 0
