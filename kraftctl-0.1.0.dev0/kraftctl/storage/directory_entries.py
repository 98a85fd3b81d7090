"""Checks the entries of a directory: one that cannot be read is an error, never a missing file."""

from __future__ import annotations

import os
from pathlib import Path

from kraftctl.storage.errors import cannot


def names_in(directory: Path) -> list[str]:
    """Returns the names in order; none without such a directory. Raises StorageError when that cannot be
    known.
    """
    try:
        return sorted(os.listdir(directory))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise cannot("list", directory, error) from error


def exists(path: Path) -> bool:
    """Returns whether there is such a file. Raises StorageError when that cannot be known."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise cannot("read", path, error) from error
    return True


def rename(path: Path, renamed: Path) -> None:
    """Renames within the same directory. Raises StorageError."""
    try:
        path.replace(renamed)
    except OSError as error:
        raise cannot(f"rename to {renamed.name}", path, error) from error


def remove(path: Path) -> None:
    """Removes one file. Raises StorageError."""
    try:
        path.unlink()
    except OSError as error:
        raise cannot("remove", path, error) from error


def size_in_bytes(path: Path) -> int:
    """Returns the size of a file. Raises StorageError."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise cannot("read", path, error) from error
