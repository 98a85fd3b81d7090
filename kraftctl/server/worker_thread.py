"""A thread beside the event loop that does one call after the other, and reports the end of each to the loop.

In place of `loop.run_in_executor`: its locks and two futures take 18 us of processor time for a call and its
end, this takes 7.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar, cast

from kraftctl.server.executor_protocols import Finished

T = TypeVar("T")

Task = tuple[Callable[[], Any], Callable[[Finished[Any]], None]]
"""A call, and what is to be called with its end."""


class Ended(Generic[T]):
    """A call that has ended, with a result or an exception: is `Finished`."""

    __slots__ = ("_error", "_result")

    def __init__(self, result: T | None, error: BaseException | None) -> None:
        self._result = result
        self._error = error

    def exception(self) -> BaseException | None:
        return self._error

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return cast("T", self._result)


def ended(call: Callable[[], T]) -> Ended[T]:
    """Make the call, here and now."""
    try:
        return Ended(call(), None)
    except BaseException as error:  # noqa: BLE001 - handed on to where the call came from
        return Ended(None, error)


class WorkerThread:
    """Begins with the first call. `stop` it, otherwise it ends with the process, in the middle of a call."""

    def __init__(self, loop: asyncio.AbstractEventLoop, name: str) -> None:
        self._loop = loop
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name=name, daemon=True)
        self._has_begun = False
        self.is_stopping = False

    def run(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """After those before it. `done` is called on the loop, unless that is closed."""
        assert not self.is_stopping, f"a call for the thread {self._worker.name}, which is stopping"
        if not self._has_begun:
            self._has_begun = True
            self._worker.start()
        self._tasks.put((call, done))

    def stop(self) -> None:
        """Wait until every call has ended. Not on the loop."""
        self.is_stopping = True
        self._tasks.put(None)
        if self._has_begun:
            self._worker.join()

    def _work(self) -> None:
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        """A function of its own: nothing of a call is in memory while the thread waits for the next."""
        task = self._tasks.get()
        if task is None:
            return False
        call, done = task
        has_ended = ended(call)
        try:
            self._loop.call_soon_threadsafe(done, has_ended)
        except RuntimeError:
            if not self._loop.is_closed():
                raise
        return True
