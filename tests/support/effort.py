"""How many seeds random tests run, from which on: `make test` 1 and 0, `make test-quick` less, soaks more.

A seed means the same history at every effort: what a soak finds is repeated by its seed alone.
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
    """The seeds that a test is parametrized with: `count` of them at an effort of 1."""
    return range(FIRST_SEED, FIRST_SEED + scaled(count))


def examples(count: int) -> settings:
    """Settings of a Hypothesis test; without a deadline, since machines may be busy."""
    return settings(max_examples=scaled(count), deadline=None)


def use_effort() -> None:
    """For Hypothesis tests without a number of examples: 100 at an effort of 1."""
    settings.register_profile("effort", max_examples=scaled(100))
    settings.load_profile("effort")
