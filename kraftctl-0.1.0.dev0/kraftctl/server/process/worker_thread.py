"""A thread beside the event loop that does one call after the other, and reports the end of each to the
loop.

It replaces `loop.run_in_executor`, whose locks and two futures take 11 us of processor time more per call.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar, cast

from kraftctl.server.process.finished_call import Finished

T = TypeVar("T")

Task = tuple[Callable[[], Any], Callable[[Finished[Any]], None]]
"""A call, and the function to call with its end."""

End = tuple[Callable[[Finished[Any]], None], Finished[Any]]
"""The function to call, and its argument."""

ONE: Final = (1).to_bytes(8, sys.byteorder)
"""Adds one to an eventfd when written to it. A read takes as many bytes."""


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
    """Makes the call on this thread."""
    try:
        return Ended(call(), None)
    except BaseException as error:  # noqa: BLE001 - handed on to where the call came from
        return Ended(None, error)


class WorkerThread:
    """A thread that starts with the first call. `stop` it and then `close` it.

    Otherwise it ends with the process, in the middle of a call. Both sides wake each other through an
    eventfd, because a write to that releases the interpreter's lock. A queue and `call_soon_threadsafe` keep
    it: on the same processor, the other side begins to run and waits for the lock, several times for each
    call and each end. That took 42 us of processor time, this takes 37.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, name: str) -> None:
        """Raises OSError when there are no descriptors left."""
        self._loop = loop
        self._tasks: deque[Task | None] = deque()
        self._ends: deque[End] = deque()
        self._wanted = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)
        """The descriptor that counts the tasks."""
        self._ended = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        """The descriptor that is readable when there are ends."""
        self._worker = threading.Thread(target=self._work, name=name, daemon=True)
        self._has_begun = False
        self._is_closed = False
        self.is_stopping = False

    def run(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        """Queues a call; to be called on the loop. `done` is called on the loop, unless that is closed."""
        assert not self.is_stopping, f"a call for the thread {self._worker.name}, which is stopping"
        if not self._has_begun:
            self._has_begun = True
            self._loop.add_reader(self._ended, self._report)
            self._worker.start()
        self._tasks.append((call, done))
        os.write(self._wanted, ONE)

    def stop(self) -> None:
        """Waits until every call has ended. Not to be called on the loop."""
        was_stopping, self.is_stopping = self.is_stopping, True
        if not self._has_begun:
            return
        if not was_stopping:
            self._tasks.append(None)
            os.write(self._wanted, ONE)
        self._worker.join()

    def close(self) -> None:
        """Closes the descriptors; to be called on the loop, after `stop`. The next turn has the
        remaining ends.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_begun:
            self._loop.remove_reader(self._ended)
            self._report_all()
        os.close(self._wanted)
        os.close(self._ended)

    def _report(self) -> None:
        os.read(self._ended, len(ONE))
        self._report_all()

    def _report_all(self) -> None:
        while self._ends:
            done, finished = self._ends.popleft()
            self._loop.call_soon(done, finished)

    def _work(self) -> None:
        while self._do_next():
            os.write(self._ended, ONE)

    def _do_next(self) -> bool:
        """Does a call in a function of its own, so that nothing of it is in memory while the thread waits."""
        os.read(self._wanted, len(ONE))
        task = self._tasks.popleft()
        if task is None:
            return False
        call, done = task
        self._ends.append((done, ended(call)))
        return True
