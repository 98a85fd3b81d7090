"""An event loop whose time jumps to the next timer as soon as nothing else is left to do.

Its order is deterministic: with `ImmediateThreads`, work for other threads runs on the loop's own thread, and
connections to other hosts fail.
"""

from __future__ import annotations

import asyncio
import selectors
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from kraftctl.server.process.clock import Clock, let_others_run
from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.storage_threads import StorageThreads
from kraftctl.server.process.worker_thread import ended

T = TypeVar("T")

START_SECONDS = 1_000.0
WALL_START_MS = 1_700_000_000_000
JUMP_SECONDS_MIN = 1e-6
"""A jump must not be rounded to nothing: time would stand still."""


class JumpingSelector(selectors.SelectSelector):
    """Never waits: moves the loop's time instead."""

    loop: VirtualTimeLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout != 0:
            assert timeout is not None, "all tasks wait for something that never happens"
            self.loop.seconds += max(timeout, JUMP_SECONDS_MIN)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """For `asyncio.Runner(loop_factory=VirtualTimeLoop)`."""

    def __init__(self) -> None:
        self.seconds = START_SECONDS
        selector = JumpingSelector()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """Run it immediately, here: names are looked up in no time."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except OSError as error:
            done.set_exception(error)
        return done

    async def create_connection(self, *args: Any, **kwargs: Any) -> Any:
        """Fails like the real one for an invalid host name, otherwise as for a closed port."""
        host, port = args[1:3]
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        raise ConnectionRefusedError("connection refused")


class ImmediateThreads(StorageThreads):
    """An fsync takes no time: calls run here, and their ends are reported in a later turn of the loop."""

    def run_on_storage_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._loop.call_soon(done, ended(call))

    run_on_flush_thread = run_on_storage_thread
    run_on_snapshot_thread = run_on_storage_thread

    def run_on_decoding_thread(
        self, call: Callable[[Callable[[], object]], T], done: Callable[[Finished[T]], None]
    ) -> None:
        self._loop.call_soon(done, ended(partial(call, let_others_run)))

    async def stop(self) -> None:
        """Nothing is left to wait for."""


class VirtualClock(Clock):
    """The clock of such a loop."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        return int(self._loop.seconds * 1000)

    def now_ns(self) -> int:
        return int(self._loop.seconds * 1_000_000_000)

    def wall_ms(self) -> int:
        return WALL_START_MS + self.now_ms()
