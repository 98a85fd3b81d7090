"""A directory as a store: a file is written under a hidden name, and linked to its own name."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from kraftctl_spark.stores.durable import (
    TEMPORARY_SUFFIX,
    Hook,
    fsync,
    make_directory,
    no_hook,
    temporary_path,
    write_whole,
    writing,
)

ATTEMPTS = 5
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


class LocalStore:
    """The files below a directory, which need not exist yet."""

    def __init__(self, root: Path, hook: Hook = no_hook) -> None:
        self.root = root
        self._hook = hook

    def create(self, name: str, data: bytes) -> bool:
        path = self.root / name
        make_directory(path.parent)
        for attempt in range(ATTEMPTS):
            temporary = temporary_path(path)
            try:
                return self._created(path, temporary, data)
            except FileNotFoundError:  # Another process deletes what killed ones have left, and this with it.
                if attempt == ATTEMPTS - 1:
                    raise
            finally:
                temporary.unlink(missing_ok=True)
        raise AssertionError("the last attempt returns or raises")

    def _created(self, path: Path, temporary: Path, data: bytes) -> bool:
        with writing(path):
            temporary.write_bytes(data)
            self._hook(f"{path.suffix.removeprefix('.')}-written")
            fsync(temporary)
            linked = _linked(temporary, path)
            if linked:
                fsync(path.parent)
            return linked

    def put_file(self, name: str, source: Path) -> None:
        path = self.root / name
        make_directory(path.parent)
        with writing(path):
            try:
                fsync(source)
                source.replace(path)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                self._copy(source, path)
            fsync(path.parent)

    def _copy(self, source: Path, path: Path) -> None:
        """Copies a file of another file system."""
        temporary = temporary_path(path)
        try:
            shutil.copyfile(source, temporary)
            fsync(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)

    def put(self, name: str, data: bytes) -> None:
        path = self.root / name
        make_directory(path.parent)
        write_whole(path, data, self._hook)

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def size(self, name: str) -> int | None:
        try:
            return (self.root / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, prefix: str, after: str = "") -> list[str]:
        below = f"{prefix}/" if prefix else ""
        return sorted(name for name in _below(self.root / prefix, below) if name > after)

    def delete(self, names: Iterable[str]) -> None:
        for name in names:
            (self.root / name).unlink(missing_ok=True)

    def fetch_to(self, name: str, target: Path) -> None:
        shutil.copyfile(self.root / name, target)


def _linked(temporary: Path, path: Path) -> bool:
    """Gives the file its name; returns False if another one has it."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        # NFS may repeat a request that it has carried out, and then finds its own link.
        return temporary.stat().st_nlink > 1
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        raise OSError(
            error.errno,
            f"{path} cannot be created: its file system has no hard links ({os.strerror(error.errno)}). "
            "Choose a directory of another file system",
        ) from error
    return True


def _below(directory: Path, prefix: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(Path(entry.path), f"{prefix}{entry.name}/")
        elif not entry.name.endswith(TEMPORARY_SUFFIX):
            yield prefix + entry.name
