"""LoopStack: the stack of the event loop on SIGQUIT, also when the loop is blocked and no handler of it runs.

A handler in C writes the stack into a pipe of our own, which never makes it wait; a thread reads that and
logs it. Nothing waits for who reads standard output or standard error.

Not the stacks of other threads: they run meanwhile, and to read what they change ends the process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import select
import signal
import threading

logger = logging.getLogger("kraftctl.server")

PIPE_BYTES = 64 * 1024
"""What a pipe holds: a stack of a hundred functions, the most that are written, takes a quarter of it."""


class LoopStack:
    """Then the handler of SIGQUIT that was there before is called."""

    def __init__(self) -> None:
        self._from, self._to = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lock = threading.Lock()
        self._begun = b""
        self._is_closed = False
        self._thread = threading.Thread(target=self._read, name="loop-stack", daemon=True)
        self._thread.start()
        faulthandler.register(signal.SIGQUIT, file=self._to, all_threads=False, chain=True)

    def close(self) -> None:
        """SIGQUIT writes no stack any more."""
        faulthandler.unregister(signal.SIGQUIT)
        self._is_closed = True
        with contextlib.suppress(BlockingIOError):  # then the thread is awake
            os.write(self._to, b"\n")
        self._thread.join()
        os.close(self._from)
        os.close(self._to)

    def log(self) -> None:
        """What was written so far. The loop calls it, so that its stack is in the log before the others."""
        with self._lock:
            try:
                data = os.read(self._from, PIPE_BYTES)
            except BlockingIOError:
                return
            *lines, self._begun = (self._begun + data).split(b"\n")
            for line in lines:
                if line:
                    logger.info("%s", line.decode(errors="backslashreplace"))

    def _read(self) -> None:
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        while not self._is_closed:
            poll.poll()
            self.log()
