"""Reads files that a configuration names, without waiting for a FIFO or a terminal.

Opening a FIFO waits for a writer, and some devices have no end. A controller that starts would hang without
a message, and one that reads a keystore again would never read another.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from pathlib import Path
from typing import Final

FILE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Properties and users have some thousand bytes."""

WRITER_SECONDS_MAX: Final = 10.0
"""The time a FIFO or a terminal may take for the next bytes, where one is read at all."""

_READ_BYTES = 1024 * 1024

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def mode_against_others(status: os.stat_result) -> str | None:
    """Returns the mode that chmod needs if other accounts may use the file, and None if they may not.

    A file of another owner, such as root, is read through its group: that group is no other account.
    """
    if status.st_uid == os.geteuid():
        return "600" if status.st_mode & 0o077 else None
    return "o-rwx" if status.st_mode & 0o007 else None


def read_small_file(path: str | Path, bytes_max: int = FILE_BYTES_MAX) -> bytes:
    """Reads a file that may be read again later. Raises OSError, whose strerror says what it is."""
    descriptor = _opened(path)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(found.st_mode):
            kind = _KINDS.get(stat.S_IFMT(found.st_mode), "of another kind")
            raise OSError(errno.EINVAL, f"it is {kind}, and has to be a file", str(path))
        if found.st_size > bytes_max:
            raise _too_long(path, bytes_max)
        return _content(descriptor, path, bytes_max)
    finally:
        os.close(descriptor)


def read_once(path: str | Path, bytes_max: int = FILE_BYTES_MAX) -> bytes:
    """Reads a file only once: it may also be what a shell makes of `<(command)`."""
    descriptor = _opened(path)
    try:
        return _content(descriptor, path, bytes_max)
    finally:
        os.close(descriptor)


def _opened(path: str | Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def _content(descriptor: int, path: str | Path, bytes_max: int) -> bytes:
    content = bytearray()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while True:
        if not poll.poll(WRITER_SECONDS_MAX * 1_000):
            text = f"nothing was written to it for {WRITER_SECONDS_MAX:g} seconds"
            raise OSError(errno.EAGAIN, text, str(path))
        try:
            part = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            continue
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from error
        if not part:
            return bytes(content)
        content += part
        if len(content) > bytes_max:
            raise _too_long(path, bytes_max)


def _too_long(path: str | Path, bytes_max: int) -> OSError:
    return OSError(errno.E2BIG, f"it has more than {bytes_max:,} bytes", str(path))
