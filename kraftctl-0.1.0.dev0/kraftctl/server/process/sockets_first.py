"""Reads the sockets before a timeout takes effect: data that has arrived in time counts.

A loop that was held up is late. uvloop then runs timers before it polls the sockets, and asyncio runs both
in one turn: a heartbeat, a Fetch or a response that came in time may not have been read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

TURNS: Final = 3
"""uvloop runs the first call before it polls the sockets, and the second one after that. Tasks that wait
for the data continue before the third."""


def call_after_sockets(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Calls `call` once the sockets have been read, and the tasks that wait for the data had a turn."""
    loop.call_soon(_turn, loop, call, TURNS - 1)


def _turn(loop: asyncio.AbstractEventLoop, call: Callable[[], None], left_count: int) -> None:
    if left_count == 0:
        call()
    else:
        loop.call_soon(_turn, loop, call, left_count - 1)


@asynccontextmanager
async def answered_before(loop: asyncio.AbstractEventLoop, deadline: float) -> AsyncIterator[None]:
    """Limits time like `asyncio.timeout_at`, but reads a response that has arrived before it raises
    TimeoutError.
    """
    async with asyncio.timeout(None) as timeout:

        def expire() -> None:
            if waits:
                timeout.reschedule(loop.time())

        waits = True
        timer = loop.call_at(deadline, call_after_sockets, loop, expire)
        try:
            yield
        finally:
            waits = False
            timer.cancel()
