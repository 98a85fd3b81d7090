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


async def on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], T]) -> T:
    """Returns or raises what the call does on `loop`, which another thread runs. Raises TimeoutError."""
    own = asyncio.get_running_loop()
    future: asyncio.Future[Any] = own.create_future()

    def run() -> None:
        result = ended(call)
        with contextlib.suppress(RuntimeError):  # the listener has stopped meanwhile
            own.call_soon_threadsafe(_report, future, result)

    loop.call_soon_threadsafe(run)
    async with asyncio.timeout(LOOP_SECONDS_MAX):
        return cast("T", await future)


def _report(future: asyncio.Future[Any], result: Finished[Any]) -> None:
    if future.done():
        return
    error = result.exception()
    if error is None:
        future.set_result(result.result())
    else:
        future.set_exception(error)
