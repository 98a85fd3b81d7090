"""Replaces a small file so that a crash leaves either the old content or the new, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path

from kraftctl.storage.errors import cannot

TEMPORARY_SUFFIX = ".tmp"

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
"""Other accounts may read nothing: the log and its snapshots have passwords."""

PARENT_MODE = 0o755
"""Parents hold no secrets, and may be of another account, such as root."""


def replace_file(path: Path, content: bytes, *, note: str = "") -> None:
    """Writes `path` by way of `<path>.tmp`, fsync, atomic rename and fsync of the directory.

    Raises StorageError, in which `note` describes the consequences; the old content of `path` is then still
    there, or the new one is complete.
    """
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        temporary.unlink(missing_ok=True)
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
            try:
                write_all(descriptor, content)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        _fsync_directory(path.parent)
    except OSError as error:
        raise cannot("write", path, error, note) from error


def write_all(descriptor: int, content: bytes | memoryview) -> None:
    """Calls os.write until everything is written: a nearly full disk accepts only a part. Raises OSError."""
    view = memoryview(content)
    while len(view) > 0:
        written = os.write(descriptor, view)  # on its own line: mypyc 2.4 evaluates a call in a slice twice
        view = view[written:]


def write_all_at(descriptor: int, content: bytes, position: int) -> None:
    """Writes like write_all, but starts at byte `position` of the file."""
    written = os.pwrite(descriptor, content, position)
    while written < len(content):  # otherwise no view is made: every commit waits for two such writes
        written += os.pwrite(descriptor, memoryview(content)[written:], position + written)


def fsync_directory(directory: Path) -> None:
    """Makes names created, renamed or removed in `directory` survive a power failure. Raises StorageError."""
    try:
        _fsync_directory(directory)
    except OSError as error:
        raise cannot("force to the disk the names in", directory, error) from error


def _fsync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create_directory(directory: Path) -> None:
    """Creates `directory` and its parents so that they survive a power failure. Raises StorageError."""
    missing: list[Path] = []
    try:
        parent = directory
        while not _exists(parent):
            missing.append(parent)
            parent = parent.parent
        for path in reversed(missing):
            path.mkdir(DIRECTORY_MODE, exist_ok=True)
            if path != directory:
                path.chmod(PARENT_MODE)
            _fsync_directory(path.parent)
    except OSError as error:
        raise cannot("create the directory", directory, error) from error


def _exists(directory: Path) -> bool:
    """Returns whether it exists; `Path.exists` returns False where that cannot be known."""
    try:
        directory.stat()
    except FileNotFoundError:
        return False
    return True
