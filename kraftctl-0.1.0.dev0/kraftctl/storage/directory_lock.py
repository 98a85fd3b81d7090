"""The `.lock` file of a log directory: one process at a time, kraftctl or Kafka.

Java's FileLock is a POSIX record lock on the whole file, so the same kind is taken here. Such a lock belongs
to the process and ends with it; a list of held locks refuses a second attempt within this process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from pathlib import Path

from kraftctl.storage.durable_files import FILE_MODE
from kraftctl.storage.errors import StorageError, cannot

FILE_NAME = ".lock"

HELD = (errno.EAGAIN, errno.EACCES)
"""The errors of lockf when another process has the lock: POSIX allows both."""

MAY_BE_IN_USE = "Whether another process uses the directory is not known, and two would destroy it."

_FLOCK = struct.Struct("hhqqi0q")
"""The struct flock of Linux: type, whence, start, length and process."""

_locked_here: set[Path] = set()


class DirectoryLock:
    """A lock that is held from `acquire` until `release` or the end of the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, log_dir: Path) -> DirectoryLock:
        """Raises StorageError when another process uses `log_dir`."""
        path = Path(os.path.realpath(log_dir)) / FILE_NAME
        if path in _locked_here:
            raise _in_use(log_dir, "this process")
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        except OSError as error:
            raise cannot("open", path, error) from error
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if error.errno not in HELD:
                raise cannot("lock", path, error, note=MAY_BE_IN_USE) from error
            raise _in_use(log_dir, "another process") from error
        _locked_here.add(path)
        return cls(path, descriptor)

    def release(self) -> None:
        _locked_here.discard(self.path)
        os.close(self._descriptor)


def is_in_use(log_dir: Path) -> bool:
    """Returns whether a process has the lock, without taking it. Raises OSError."""
    path = Path(os.path.realpath(log_dir)) / FILE_NAME
    # To close any descriptor of the file ends a lock that this process has.
    if path in _locked_here:
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        found: int = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))[0]
    finally:
        os.close(descriptor)
    return found != fcntl.F_UNLCK


def _in_use(log_dir: Path, holder: str) -> StorageError:
    return StorageError(
        f"{log_dir} is in use: {holder} holds its {FILE_NAME} file. Next step: stop the other controller; two"
        " of them on one directory would destroy it."
    )
