"""SharedOutput writes to standard output or standard error, which other processes hold, too.

Its settings are theirs as well, so they stay as they are: it may be blocking, or not. Its caller may have to
wait for a reader.
"""

from __future__ import annotations

import os

from kraftctl_security.standard_output import PartlyWrittenError, write_whole

BLOCK_BYTES_MAX = 64 * 1024
"""The size of a pipe: progress of the reader is noticed soon."""


class SharedOutput:
    """An output that one thread at a time uses. The process closes it at its end."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path
        self.kept_bytes = 0
        """The bytes of whole lines that the call that failed last has written."""
        self._is_torn = False
        """Whether it ends in a part of a line."""

    def open(self) -> None:
        """Does nothing, because it is open."""

    def write(self, lines: bytes) -> None:
        """Writes lines. Raises OSError when the reader is gone, or the disk is full."""
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
        """Does nothing, because nothing is buffered."""


def are_the_same(first: int | None, second: int | None) -> bool:
    """Returns whether two descriptors lead to the same file, pipe or terminal."""
    if first is None or second is None:
        return False
    try:
        return os.path.samestat(os.fstat(first), os.fstat(second))
    except OSError:
        return False


def occupy_closed_descriptors() -> None:
    """Occupies closed descriptors 1 and 2, so that no file opened later gets the lines of the log."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
