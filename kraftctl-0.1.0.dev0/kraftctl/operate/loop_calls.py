"""Calls on the loop of the controller, for the thread that serves probes and metrics."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.worker_thread import ended

T = TypeVar("T")

LOOP_SECONDS_MAX: Final = 2.0


class LoopCalls:
    """At most one call of each kind waits for the loop; those that ask meanwhile share what it returns.

    So a loop that was stuck has no more to do than one call of each kind.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    async def make(self, kind: str, loop: asyncio.AbstractEventLoop, call: Callable[[], T]) -> T:
        """Returns or raises what the call does on `loop`, which another thread runs.

        Raises TimeoutError, also if that loop has ended.
        """
        future = self._waiting.get(kind)
        if future is None or loop.is_closed():
            future = self._begin(kind, loop, call)
        async with asyncio.timeout(LOOP_SECONDS_MAX):
            return cast("T", await asyncio.shield(future))

    def _begin(
        self, kind: str, loop: asyncio.AbstractEventLoop, call: Callable[[], T]
    ) -> asyncio.Future[Any]:
        own = asyncio.get_running_loop()
        future: asyncio.Future[Any] = own.create_future()

        def run() -> None:
            result = ended(call)
            with contextlib.suppress(RuntimeError):  # the listener has stopped meanwhile
                own.call_soon_threadsafe(self._end, kind, future, result)

        try:
            loop.call_soon_threadsafe(run)
        except RuntimeError as error:
            message = "the loop of the controller has ended"
            raise TimeoutError(message) from error
        self._waiting[kind] = future
        return future

    def _end(self, kind: str, future: asyncio.Future[Any], result: Finished[Any]) -> None:
        del self._waiting[kind]
        error = result.exception()
        if error is None:
            future.set_result(result.result())
        else:
            future.set_exception(error)
            future.exception()  # nobody may wait for it any longer
