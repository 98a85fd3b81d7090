"""Faults of a simulated quorum: networks, disks from 0.1 ms to 6 s, crashes between two effects."""

from __future__ import annotations

import random
from collections.abc import Callable

from kraftctl.raft.effects import RaftEffect

FSYNC_MS_MAX = 6_000
"""As observed with a full write cache or a failing disk; three fetch timeouts."""

DiskSpeed = Callable[[random.Random], int]
"""How many ms the next fsync takes. One of 0.1 ms ends before the clock moves: 0."""


def even_disk(flush_ms_max: int) -> DiskSpeed:
    return lambda rng: rng.randint(0, flush_ms_max)


def fast_disk(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, 0, 1, 1, 2, 9))


def stalling_disk(rng: random.Random) -> int:
    """Fast, except for one fsync in twenty."""
    return rng.randint(500, FSYNC_MS_MAX) if rng.random() < 0.05 else fast_disk(rng)


def slow_disk(rng: random.Random) -> int:
    """0.1 ms to 6 s on a logarithmic scale: as many between 1 and 10 ms as between 100 ms and 1 s."""
    return int(10 ** rng.uniform(-1.0, 3.78))


class Faults:
    """Chances per message, the longest delays in ms, and how fast each replica's disk is."""

    def __init__(
        self,
        *,
        loss: float = 0.0,
        delay_ms_max: int = 5,
        flush_ms_max: int = 10,
        duplicates: float = 0.0,
        slow_links: dict[tuple[int, int], int] | None = None,
        disks: dict[int, DiskSpeed] | None = None,
    ) -> None:
        self.loss = loss
        self.delay_ms_max = delay_ms_max
        self.duplicates = duplicates
        self.slow_links = {} if slow_links is None else slow_links
        self.disks = {} if disks is None else disks
        self.other_disks = even_disk(flush_ms_max)

    def flush_ms(self, node_id: int, rng: random.Random) -> int:
        return self.disks.get(node_id, self.other_disks)(rng)

    def delay_ms(self, source: int, target: int, rng: random.Random) -> int:
        """Each message has its own delay, so they overtake each other."""
        return rng.randint(0, self.delay_ms_max) + self.slow_links.get((source, target), 0)


class PlannedCrash:
    """A process ends before or after one of its next effects: the rest of that step never happens."""

    def __init__(
        self, effects_left: int, kind: type[RaftEffect] | None, *, before: bool, power_fails: bool
    ) -> None:
        self.effects_left = effects_left
        self.kind = kind
        self.before = before
        self.power_fails = power_fails

    def is_due(self, effect: RaftEffect, *, before: bool) -> bool:
        """Call it once before and once after each effect."""
        if before is not self.before or (self.kind is not None and not isinstance(effect, self.kind)):
            return False
        self.effects_left -= 1
        return self.effects_left <= 0


class Clock:
    """A replica's own monotonic clock: it starts at a random value, up to a tenth too fast or too slow."""

    def __init__(self, percent: int = 100) -> None:
        self.percent = percent
        self.offset_ms = 0

    def local_ms(self, now_ms: int) -> int:
        return self.offset_ms + now_ms * self.percent // 100

    def delay_ms(self, deadline_ms: int, now_ms: int) -> int:
        """How long it takes until this clock reaches the deadline."""
        left_ms = deadline_ms - self.local_ms(now_ms)
        return max(0, -(-left_ms * 100 // self.percent))
