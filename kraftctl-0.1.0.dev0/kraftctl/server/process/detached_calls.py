"""Runs calls that may wait for something external, such as a name server or a mounted file, beside the loop.

Each has a thread that nothing waits for. The threads of `asyncio.to_thread` and of a loop's resolver are few
and shared, so slow calls delay others, and the end of the process waits until they return.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.worker_thread import ended

T = TypeVar("T")


async def call_detached(call: Callable[[], T]) -> T:
    """Returns or raises what the call does. It finishes even if its result is not awaited any more."""
    return cast("T", await _begin(call))


class SharedCalls:
    """Runs one call for a key at a time, however often it is requested.

    A call may take longer than its caller waits, who then requests it again.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Any]] = {}

    async def call(self, key: Hashable, call: Callable[[], T]) -> T:
        """Returns the result of the call that already runs for `key`, or of this one."""
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = _begin(call)
            running.add_done_callback(lambda _: self._running.pop(key))
        return cast("T", await asyncio.shield(running))


def _begin(call: Callable[[], T]) -> asyncio.Future[T]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        result = ended(call)
        if not loop.is_closed():
            loop.call_soon_threadsafe(_report, future, result)

    threading.Thread(target=run, name="detached-call", daemon=True).start()
    return future


def _report(future: asyncio.Future[T], result: Finished[T]) -> None:
    if future.cancelled():
        return
    error = result.exception()
    if error is None:
        future.set_result(result.result())
    else:
        future.set_exception(error)
        future.exception()  # its caller may have left: that is no error of the loop
