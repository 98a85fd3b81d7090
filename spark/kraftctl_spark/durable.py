"""Files that are there whole or not at all: temporary name, fsync, rename, fsync of the directory."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from pathlib import Path

Hook = Callable[[str], None]
"""Called with the name of a step that was just done; tests end the process there."""

TEMPORARY_SUFFIX = ".tmp"


def no_hook(step: str) -> None:
    """What runs outside of tests."""


def temporary_path(path: Path) -> Path:
    """Hidden from readers of the directory, and never the same twice."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}{TEMPORARY_SUFFIX}")


def fsync(path: Path) -> None:
    """Also for directories."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def publish(temporary: Path, path: Path) -> None:
    """Gives a finished file its name, in place of what had it before."""
    fsync(temporary)
    temporary.replace(path)
    fsync(path.parent)


def write_whole(path: Path, data: bytes, hook: Hook = no_hook) -> None:
    temporary = temporary_path(path)
    temporary.write_bytes(data)
    hook(f"{path.suffix.removeprefix('.')}-written")
    publish(temporary, path)
