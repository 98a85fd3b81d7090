"""Lets SSL handshakes and SASL tokens take turns: the loop does nothing else during a step, a millisecond."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

HANDSHAKES_PER_TURN: Final = 4
"""The number of steps in a turn of the loop. One of a handshake with an RSA key of 2048 bits takes 0.8 ms."""


class HandshakeTurns:
    """Waiting steps of all listeners; the addresses of clients take turns."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._is_scheduled = False

    def wait(self, address: str, step: Callable[[], None]) -> None:
        """Schedules `step`. Its exceptions affect no other step."""
        self._waiting.setdefault(address, deque()).append(step)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        for _ in range(HANDSHAKES_PER_TURN):
            if not self._waiting:
                break
            self._loop.call_soon(self._next())
        self._is_scheduled = bool(self._waiting)
        if self._is_scheduled:
            self._loop.call_soon(self._run)

    def _next(self) -> Callable[[], None]:
        address = next(iter(self._waiting))
        steps = self._waiting.pop(address)
        step = steps.popleft()
        if steps:
            self._waiting[address] = steps  # behind the others
        return step
