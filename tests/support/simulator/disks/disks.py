"""How long a simulated disk takes for one storage call: from 0.1 ms to 6 s."""

from __future__ import annotations

import random
from collections.abc import Callable

FSYNC_US_MAX = 6_000_000
"""As observed with a full write cache or a failing disk; three fetch timeouts."""

DiskSpeed = Callable[[random.Random], int]
"""How many microseconds the next call takes."""


def fast_disk(rng: random.Random) -> int:
    return rng.choice((100, 100, 200, 300, 500, 1_000, 2_000, 9_000))


def stalling_disk(rng: random.Random) -> int:
    """Fast, except for one call in twenty."""
    return rng.randint(500_000, FSYNC_US_MAX) if rng.random() < 0.05 else fast_disk(rng)


def slow_disk(rng: random.Random) -> int:
    """On a logarithmic scale: as many between 1 and 10 ms as between 100 ms and 1 s."""
    return int(1000 * 10 ** rng.uniform(-1.0, 3.78))


def instant_disk(rng: random.Random) -> int:
    """For tests that are not about disks."""
    return 0
