"""Threads that wait for the disk or compute in place of the event loop: a `Scheduler` on asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from mypy_extensions import mypyc_attr

from kraftctl.server.process import collector
from kraftctl.server.process.clock import let_others_run
from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.sockets_first import call_after_sockets
from kraftctl.server.process.worker_thread import WorkerThread

T = TypeVar("T")


@mypyc_attr(allow_interpreted_subclasses=True)
class StorageThreads:
    """Four threads, each of which does one call after the other. `done` and the rest run on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._flush_thread = WorkerThread(loop, "metadata-log-flush")
        self._storage_thread = WorkerThread(loop, "storage")
        self._snapshot_thread = WorkerThread(loop, "snapshot-writer")
        self._decoding_thread = WorkerThread(loop, "request-decoder")

    def run_on_storage_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._storage_thread.run(call, done)

    def run_on_flush_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """Runs a flush once all sockets of this turn are read.

        One flush has what all of them append, and its thread does not contend for the interpreter meanwhile.
        One AlterPartition of each of 20 brokers takes a quarter less processor time.
        """
        self._loop.call_soon(self._begin_flush, call, done)

    def _begin_flush(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        if not self._flush_thread.is_stopping:
            self._flush_thread.run(call, done)

    def run_on_snapshot_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._snapshot_thread.run(call, done)

    def run_on_decoding_thread(
        self, call: Callable[[Callable[[], object]], T], done: Callable[[Finished[T]], None]
    ) -> None:
        self._decoding_thread.run(partial(_compute, call), done)

    def call_soon(self, call: Callable[[], None]) -> None:
        self._loop.call_soon(call)

    def call_after_sockets(self, call: Callable[[], None]) -> None:
        call_after_sockets(self._loop, call)

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        return self._loop.call_later(delay_seconds, call)

    async def stop(self) -> None:
        """Waits until every call has ended."""
        threads = (self._flush_thread, self._storage_thread, self._snapshot_thread, self._decoding_thread)
        for thread in threads:
            await self._loop.run_in_executor(None, thread.stop)
            thread.close()
        await asyncio.sleep(0)  # what they reported last is done


def _compute(call: Callable[[Callable[[], object]], T]) -> T:
    """Runs the call without the cyclic collector: decoding makes no cycles, and counting references
    frees its objects, also when frozen.
    """
    with collector.paused():
        return call(let_others_run)
