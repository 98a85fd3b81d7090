"""LoopStack logs the stack of the event loop on SIGQUIT, also when the loop is blocked and runs no handler.

A handler in C writes the stack into a pipe of our own, which never makes it wait; a thread reads that and
logs it. A slow reader of standard output or standard error delays nothing.

Stacks of other threads are not read: they run meanwhile, and reading what they change ends the process.
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
"""The size of a pipe: a stack of a hundred functions, the most that are written, takes a quarter of it."""


class LoopStack:
    """Logs the stack, then calls the former handler of SIGQUIT."""

    def __init__(self) -> None:
        self._from, self._to = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._lock = threading.Lock()
        self._begun = b""
        self._is_closed = False
        self._thread = threading.Thread(target=self._read, name="loop-stack", daemon=True)
        self._thread.start()
        faulthandler.register(signal.SIGQUIT, file=self._to, all_threads=False, chain=True)

    def close(self) -> None:
        """Ends the writing of stacks on SIGQUIT."""
        faulthandler.unregister(signal.SIGQUIT)
        self._is_closed = True
        with contextlib.suppress(BlockingIOError):  # then the thread is awake
            os.write(self._to, b"\n")
        self._thread.join()
        os.close(self._from)
        os.close(self._to)

    def log(self) -> None:
        """Logs the stacks written so far. The loop calls it, so that its stack is in the log before the
        others.
        """
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
