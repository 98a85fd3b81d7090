"""Sockets first: what a timer ends is ended only once all that had reached the sockets has been read.

A loop that was held up is late. uvloop then runs timers before it polls the sockets, and asyncio runs both in
one turn: a heartbeat, a Fetch or an answer that came in time may not have been read.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

TURNS: Final = 3
"""uvloop runs the first call before it polls the sockets, and the second one after that. Tasks that wait for
what was read continue before the third."""


def call_after_sockets(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """`call`, once what is in the sockets now has been read, and the tasks that wait for it had a turn."""
    loop.call_soon(_turn, loop, call, TURNS - 1)


def _turn(loop: asyncio.AbstractEventLoop, call: Callable[[], None], left_count: int) -> None:
    if left_count == 0:
        call()
    else:
        loop.call_soon(_turn, loop, call, left_count - 1)


@asynccontextmanager
async def answered_before(loop: asyncio.AbstractEventLoop, deadline: float) -> AsyncIterator[None]:
    """As `asyncio.timeout_at`: raises TimeoutError where it waits. An answer that has come is read first."""
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
