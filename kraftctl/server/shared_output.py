"""SharedOutput: standard output or standard error, which other processes hold, too.

Its settings are theirs as well, so they stay as they are: it may be blocking, or not. Whoever calls it may
have to wait for a reader.
"""

from __future__ import annotations

import os
import select
from typing import TextIO

BLOCK_BYTES_MAX = 64 * 1024
"""As much as a pipe holds: what a reader takes is seen soon."""


class SharedOutput:
    """Is used by one thread at a time. Its end is left to the process."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path
        self.kept_bytes = 0
        """Of the call that failed last: what was written of whole lines."""
        self._is_torn = False
        """Whether it ends in a part of a line."""

    def open(self) -> None:
        """It is open."""

    def write(self, lines: bytes) -> None:
        """Raises OSError when the reader is gone, or the disk is full."""
        begin = b"\n" if self._is_torn else b""
        try:
            write_whole(self.descriptor, begin + lines)
        except PartlyWrittenError as error:
            written = error.written_bytes - len(begin)
            if written >= 0:
                self.kept_bytes = lines[:written].rfind(b"\n") + 1
                self._is_torn = self.kept_bytes < written
            else:
                self.kept_bytes = 0
            raise
        self._is_torn = False

    def close(self) -> None:
        """Nothing is buffered."""


class PartlyWrittenError(OSError):
    """The error of the call that failed, and what was written before."""

    def __init__(self, error: OSError, written_bytes: int) -> None:
        super().__init__(error.errno, error.strerror)
        self.written_bytes = written_bytes


def write_whole(descriptor: int, data: bytes) -> None:
    """Write all of it, as soon as there is room: also where another process has set O_NONBLOCK.

    Raises PartlyWrittenError.
    """
    position = 0
    rest = memoryview(data)
    while position < len(data):
        try:
            position += os.write(descriptor, rest[position:])
        except BlockingIOError:
            _await_room(descriptor)
        except OSError as error:
            raise PartlyWrittenError(error, position) from error


def _await_room(descriptor: int) -> None:
    """Or the end of its reader, which the next call reports."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


def descriptor_of(stream: TextIO | None) -> int | None:
    """None where it was closed before the process began, or is replaced by an object without one."""
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None


def are_the_same(first: int | None, second: int | None) -> bool:
    """Whether two descriptors lead to the same file, pipe or terminal."""
    if first is None or second is None:
        return False
    try:
        return os.path.samestat(os.fstat(first), os.fstat(second))
    except OSError:
        return False


def occupy_closed_descriptors() -> None:
    """A file that is opened later must not become standard output: it would get the lines of the log."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
