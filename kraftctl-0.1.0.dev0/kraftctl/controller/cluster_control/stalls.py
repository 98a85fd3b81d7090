"""Stalls of this process: during one no heartbeat is read, while the sessions of the brokers run out.

A session whose last contact was before a stall is not ended until the brokers had time to send heartbeats
again. Only the first stall after each contact counts: a controller that stalls repeatedly still fences a
broker that is silent.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

STALLED_MS: Final = 1_000
"""A timer is this late only when the whole process was held up."""


class Stalls:
    """The ends of stalls, as far back as the oldest session. `grace_ms` is what a stall adds to a session."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._ends_ms: list[int] = []

    @property
    def matter(self) -> bool:
        """Returns whether a session may be spared."""
        return len(self._ends_ms) > 0

    def note_timer(self, due_ms: int, now_ms: int) -> None:
        """Notes that a timer which was due at `due_ms` runs at `now_ms`."""
        if now_ms - due_ms > STALLED_MS and (not self._ends_ms or self._ends_ms[-1] < now_ms):
            self._ends_ms.append(now_ms)

    def fence_not_before_ms(self, contact_ms: int) -> int | None:
        """Returns until when a broker with a last contact at `contact_ms` is not fenced; None without a
        later stall.
        """
        first = bisect_right(self._ends_ms, contact_ms)
        return self._ends_ms[first] + self._grace_ms if first < len(self._ends_ms) else None

    def forget_before(self, oldest_contact_ms: int | None) -> None:
        """Forgets stalls that ended before the oldest contact."""
        if oldest_contact_ms is None:
            self._ends_ms.clear()
        elif self._ends_ms and self._ends_ms[0] <= oldest_contact_ms:
            del self._ends_ms[: bisect_right(self._ends_ms, oldest_contact_ms)]
