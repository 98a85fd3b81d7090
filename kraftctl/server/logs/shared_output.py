"""SharedOutput: standard output or standard error, which other processes hold, too.

Its settings are theirs as well, so they stay as they are: it may be blocking, or not. Its caller may have
to wait for a reader.
"""

from __future__ import annotations

import os

from kraftctl_security.standard_output import PartlyWrittenError, write_whole

BLOCK_BYTES_MAX = 64 * 1024
"""As much as a pipe holds: what a reader takes is seen soon."""


class SharedOutput:
    """Is used by one thread at a time. Its end is left to the process."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path
        self.kept_bytes = 0
        """The bytes of whole lines that the call that failed last has written."""
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
