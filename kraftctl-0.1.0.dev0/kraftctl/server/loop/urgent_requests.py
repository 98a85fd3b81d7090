"""UrgentRequests: short requests of heartbeats and raft begin as they are read, until they fill a turn.

A crowd of thousands of connections may send one each in one moment. Those that are read after the time of
the turn wait, and have that time again in the next one, which no other request has. Addresses take turns, one
request each: what an address has used for other requests does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kraftctl.server.loop.turn_queue import AddressTimes, TurnQueue

LOOK: Final = 8
"""After this many requests their time is looked at: reading a clock costs as much as a hundredth of a
heartbeat."""

NOT_BEGUN: Final = -1


class UrgentRequests:
    """Keeps those that wait. A turn has `turn_ns` for them."""

    def __init__(self, now_ns: Callable[[], int], turn_ns: int) -> None:
        self._now_ns = now_ns
        self._turn_ns = turn_ns
        self._count = 0
        self._since_ns = NOT_BEGUN
        """The time of the first look in this turn."""
        self.is_full = False
        """Whether this turn has no time left for them."""
        self.waiting: TurnQueue[Callable[[], None]] = TurnQueue(AddressTimes())

    def count(self) -> bool:
        """Counts one that begins. Returns whether the next turn has to be asked for: this one may be full."""
        self._count += 1
        if self._count % LOOK:
            return False
        now_ns = self._now_ns()
        if self._since_ns == NOT_BEGUN:
            self._since_ns = now_ns
        self.is_full = now_ns - self._since_ns >= self._turn_ns
        return True

    def begin_turn(self) -> None:
        """Begins another turn, which has its whole time."""
        self.is_full = False
        self._since_ns = NOT_BEGUN
