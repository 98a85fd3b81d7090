"""How much random tests try, from which seed on: `make test` 1 and 0, `make test-quick` less, a soak more.

A seed means the same history however much is tried: what a soak finds is repeated by its seed alone.
"""

from __future__ import annotations

import os

from hypothesis import settings

EFFORT = float(os.environ.get("KRAFTCTL_TEST_EFFORT", "1"))
"""A multiple of the seeds and examples of `make test`."""

FIRST_SEED = int(os.environ.get("KRAFTCTL_TEST_SEED", "0"))


def scaled(count: int) -> int:
    """Never less than one."""
    return max(1, round(count * EFFORT))


def seeds(count: int) -> range:
    """What a test is parametrized with: `count` seeds at an effort of 1."""
    return range(FIRST_SEED, FIRST_SEED + scaled(count))


def examples(count: int) -> settings:
    """Of a Hypothesis test; without a deadline, for machines are busy."""
    return settings(max_examples=scaled(count), deadline=None)


def use_effort() -> None:
    """For Hypothesis tests that do not say how many examples they want: 100 at an effort of 1."""
    settings.register_profile("effort", max_examples=scaled(100))
    settings.load_profile("effort")
