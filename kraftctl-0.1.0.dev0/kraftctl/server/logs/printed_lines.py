"""Sends what Python and libraries print on standard error to the log while a controller runs.

Standard error may be a pipe that is full: a print then waits for its reader. Exceptions of threads, and
those that Python ignores, become lines with their stacks; other text is logged as it is printed.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

logger = logging.getLogger("kraftctl.stderr")

LINE_LENGTH_MAX = 64 * 1024
"""A text of this length without an end of line becomes a line."""


@contextmanager
def logged() -> Iterator[None]:
    """Redirects standard error of the whole process."""
    before = sys.stderr, threading.excepthook, sys.unraisablehook
    sys.stderr = PrintedLines()
    threading.excepthook = _log_exception_of_thread
    sys.unraisablehook = _log_ignored_exception
    try:
        yield
    finally:
        sys.stderr, threading.excepthook, sys.unraisablehook = before


class PrintedLines(io.TextIOBase):
    """Replaces standard error: each line that is printed becomes a line of the log."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._begun = ""
        self._inside = threading.local()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
            if len(self._begun) > LINE_LENGTH_MAX:
                lines.append(self._begun)
                self._begun = ""
        if not getattr(self._inside, "logs", False):
            self._inside.logs = True  # a handler of the log may print, too
            for line in lines:
                if line.strip():
                    logger.warning("%s", line)
            self._inside.logs = False
        return len(text)


def _log_exception_of_thread(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_type is SystemExit:
        return
    name = "?" if hook.thread is None else hook.thread.name
    error = hook.exc_value or hook.exc_type()
    logger.error(
        "Thread %s has ended by an exception", name, exc_info=(hook.exc_type, error, hook.exc_traceback)
    )


def _log_ignored_exception(hook: UnraisableHookArgs) -> None:
    error = hook.exc_value or hook.exc_type()
    logger.error(
        "Exception ignored in %s: %s",
        type(hook.object).__name__,
        hook.err_msg or "nothing waits for it",
        exc_info=(hook.exc_type, error, hook.exc_traceback),
    )
