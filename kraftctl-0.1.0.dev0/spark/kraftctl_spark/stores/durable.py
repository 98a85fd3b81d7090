"""Files that exist completely or not at all: temporary name, fsync, rename, fsync of the directory."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Hook = Callable[[str], None]
"""A hook is called with the name of a step that has just been done; tests kill the process there."""

TEMPORARY_SUFFIX = ".tmp"

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def no_hook(step: str) -> None:
    """Does nothing, as the hook outside of tests."""


def temporary_path(path: Path) -> Path:
    """Returns a path that is hidden from readers of the directory, and never the same twice."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Adds the file's name to the error, and the next step when there is no space."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            if error.filename is None:  # of a call on a descriptor
                error.filename = str(path)
            raise
        raise OSError(
            error.errno,
            f"no space to write {path} ({os.strerror(error.errno)}): make room and start again; "
            "everything committed is complete, and the rest follows",
        ) from error


def fsync(path: Path) -> None:
    """Forces a file or a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(path: Path) -> None:
    """Makes it with missing parent directories; their names are durable too."""
    if not path.is_dir():
        make_directory(path.parent)
        path.mkdir(exist_ok=True)
        fsync(path.parent)


def write_whole(path: Path, data: bytes, hook: Hook = no_hook) -> None:
    temporary = temporary_path(path)
    try:
        with writing(path):
            temporary.write_bytes(data)
            hook(f"{path.suffix.removeprefix('.')}-written")
            fsync(temporary)
            temporary.replace(path)
            fsync(path.parent)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
