"""RotatedFile: lines are appended until the file would be too long; then it is renamed, and a new one begins.

`audit.log` becomes `audit.log.1`, that one `audit.log.2`; the oldest is replaced. The mode is 0600. A file is
forced to the disk when it is renamed or closed, not before: what was written last may be lost when the
machine fails, but not when the process does.

The path may also name a device, standard output or a FIFO: these are never renamed. A FIFO is read already
when it is opened, otherwise opening it fails: it does not wait for a reader.
"""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from kraftctl_security.standard_output import write_whole

MODE = 0o600


class RotatedFile:
    """A file that one thread at a time uses. Every method but `close` raises OSError."""

    def __init__(self, path: Path, *, max_bytes: int, max_files: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._max_files = max_files
        self._descriptor = -1
        self._size_bytes = 0
        self._is_torn = False
        """Whether the file ends in a part of a line, which could not be removed."""
        self._is_regular = True
        self.kept_bytes = 0
        """Is 0, because a call that fails keeps no lines: see `_remove_part`."""

    def open(self) -> None:
        """Continues the file, or starts it."""
        if self._descriptor < 0:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
            self._descriptor = os.open(self.path, flags, MODE)
            found = os.fstat(self._descriptor)
            self._size_bytes = found.st_size
            self._is_regular = stat.S_ISREG(found.st_mode)

    def write(self, lines: bytes) -> None:
        """Appends whole lines, all of them or none."""
        self.open()
        if self._is_regular and self._size_bytes and self._size_bytes + len(lines) > self._max_bytes:
            self._rotate()
        if self._is_torn:
            lines = b"\n" + lines
        try:
            write_whole(self._descriptor, lines)
        except OSError:
            self._remove_part()
            raise
        self._is_torn = False
        self._size_bytes += len(lines)

    def close(self) -> None:
        """Forces everything to the disk, if that is possible."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _remove_part(self) -> None:
        try:
            os.ftruncate(self._descriptor, self._size_bytes)
        except OSError:
            self._is_torn = True

    def _rotate(self) -> None:
        os.fsync(self._descriptor)
        for number in range(self._max_files - 1, 0, -1):
            older = self._named(number - 1)
            if older.exists():
                older.replace(self._named(number))
        if self._max_files == 1:
            self.path.unlink()
        self.close()
        self._is_torn = False
        self.open()

    def _named(self, number: int) -> Path:
        return self.path if number == 0 else self.path.with_name(f"{self.path.name}.{number}")
