"""A result that is made once at a time, and at most once a second: those who ask meanwhile share it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")

SHARED_SECONDS: Final = 1.0


class SharedResult(Generic[T]):
    """Makes results by `make`, on the loop of those who ask. A failure is shared only until the next asks."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._making: asyncio.Future[T] | None = None
        self._began = 0.0

    async def get(self) -> T:
        """Returns the one that is being made, that of the last second, or a new one."""
        now = asyncio.get_running_loop().time()
        if self._making is None or (self._making.done() and not self._is_fresh(self._making, now)):
            self._began = now
            self._making = asyncio.ensure_future(self._make())
        return await asyncio.shield(self._making)

    def _is_fresh(self, made: asyncio.Future[T], now: float) -> bool:
        is_whole = not made.cancelled() and made.exception() is None
        return is_whole and now - self._began < SHARED_SECONDS
