"""Lets SSL handshakes, SASL tokens and crowds of SSL records take turns: the loop does nothing else then.

What a step takes is measured, not assumed: a millisecond with a key of RSA 2048 bits, six with 4096, and a
client chooses its part. In a turn of the loop there are as many steps as fit into it, one at least. The
address whose steps took least goes first.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from typing import Final

from kraftctl.server.process.clock import Clock

TURN_NS: Final = 4_000_000
"""The processor time of the steps in a turn of the loop, as of waiting requests."""

ADDRESSES_MAX: Final = 1_000
"""The number of addresses whose time is remembered while they have no step that waits."""

RECORDS_SHARE: Final = 2
RECORDS_NS: Final = 4_000_000
"""Records are decrypted where they are received as long as half of the time is enough, besides a burst."""


class HandshakeTurns:
    """Waiting steps of all listeners."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self._loop = loop
        self._clock = clock
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._order: list[tuple[int, int, str]] = []
        """For each address with steps: its time, the order of coming, and the address."""
        self._taken: dict[str, int] = {}
        self._time_ns = 0
        """The time of the address whose step began last; one that comes begins with it."""
        self._number = 0
        self._is_scheduled = False
        self._records_ns = 0
        self._records_since_ns = clock.now_ns()

    def wait(self, address: str, step: Callable[[], None]) -> None:
        """Schedules `step`. Its exceptions affect no other step."""
        steps = self._waiting.get(address)
        if steps is None:
            self._waiting[address] = deque((step,))
            self._enter(address, max(self._time_ns, self._taken.pop(address, 0)))
        else:
            steps.append(step)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._run)

    def are_records_crowded(self) -> bool:
        """Returns whether records that are received now have to wait."""
        if self._records_ns > RECORDS_NS:
            self._forget_records(self._clock.now_ns())
        return self._records_ns > RECORDS_NS

    def begin_records(self) -> int:
        """Returns the time at which records begin to be decrypted, for `end_records`."""
        return self._clock.now_ns()

    def end_records(self, began_ns: int) -> None:
        """Notes that records were decrypted since then."""
        now_ns = self._clock.now_ns()
        self._forget_records(now_ns)
        self._records_ns += now_ns - began_ns

    def _forget_records(self, now_ns: int) -> None:
        share_ns = (now_ns - self._records_since_ns) // RECORDS_SHARE
        self._records_ns = max(0, self._records_ns - share_ns)
        self._records_since_ns = now_ns

    def _run(self) -> None:
        began_ns = self._clock.thread_ns()
        try:
            while self._order and self._clock.thread_ns() - began_ns < TURN_NS:
                self._run_next()
        finally:
            self._is_scheduled = bool(self._order)
            if self._is_scheduled:
                self._loop.call_soon(self._run)
            else:
                self._taken.clear()  # where none waits, none has to be first
                self._time_ns = 0

    def _run_next(self) -> None:
        """Runs a step of the first address, and charges it."""
        self._time_ns, _, address = heapq.heappop(self._order)
        steps = self._waiting[address]
        began_ns = self._clock.thread_ns()
        try:
            steps.popleft()()
        finally:
            taken_ns = self._time_ns + self._clock.thread_ns() - began_ns
            if steps:
                self._enter(address, taken_ns)
            else:
                del self._waiting[address]
                self._remember(address, taken_ns)

    def _enter(self, address: str, taken_ns: int) -> None:
        self._number += 1
        heapq.heappush(self._order, (taken_ns, self._number, address))

    def _remember(self, address: str, taken_ns: int) -> None:
        self._taken[address] = taken_ns
        if len(self._taken) > ADDRESSES_MAX:
            del self._taken[next(iter(self._taken))]
