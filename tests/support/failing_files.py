"""Lets one call on one file below a directory fail, and records which calls there were.

A call by path fails with its path, a call by descriptor without one, as those of the system do.
"""

from __future__ import annotations

import builtins
import fcntl
import fnmatch
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

OF_DESCRIPTORS = ("read", "write", "pwrite", "pread", "fsync", "fdatasync", "ftruncate", "fchmod", "fstat")
OF_PATHS = ("open", "stat", "listdir", "scandir", "mkdir", "replace", "unlink")
FORCING = ("fsync", "fdatasync")


class Call(NamedTuple):
    """`path` is relative to the directory, `number` counts equal calls on the same file from 0.

    A path with `*` matches many.
    """

    name: str
    path: str
    number: int


class FailingFiles:
    """`seen` are the calls below `root` while it is `active`."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._failing: Call | None = None
        self._errno = 0
        self.has_failed = False
        self.seen: list[Call] = []
        self._counts: dict[tuple[str, str], int] = {}

    @contextmanager
    def active(self, failing: Call | None = None, number: int = 0) -> Iterator[None]:
        """Until the end of the block, `failing` and what follows it fail with the errno `number`.

        What is forced to the disk is not waited for.
        """
        self._failing, self._errno, self.has_failed = failing, number, False
        self._counts.clear()
        patches: list[tuple[Any, str, Any]] = [
            (os, name, self._by_descriptor(name)) for name in OF_DESCRIPTORS
        ]
        patches += [(os, name, self._by_path(name)) for name in OF_PATHS]
        opened = self._opened(io.open)
        patches += [
            (io, "open", opened),
            (builtins, "open", opened),
            (fcntl, "lockf", self._locked(fcntl.lockf)),
        ]
        originals = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
        try:
            for owner, name, patch in patches:
                setattr(owner, name, patch)
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)

    def _by_descriptor(self, name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(descriptor: int, *arguments: Any, **named: Any) -> Any:
            self._meet(name, _path_of(descriptor), by_path=False)
            return None if name in FORCING else original(descriptor, *arguments, **named)

        return call

    def _by_path(self, name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(path: Any = ".", *arguments: Any, **named: Any) -> Any:
            if not isinstance(path, int):
                self._meet(name, os.fspath(path), by_path=True)
            return original(path, *arguments, **named)

        return call

    def _opened(self, original: Any) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            if isinstance(path, int):
                return original(path, *arguments, **named)
            self._meet("open", os.fspath(path), by_path=True)
            file = original(path, *arguments, **named)
            if file.readable():
                try:
                    self._meet("read", os.fspath(path), by_path=False)
                except OSError as error:
                    file.close()
                    return _Unreadable(error)
            return file

        return call

    def _locked(self, original: Any) -> Callable[..., Any]:
        def call(descriptor: int, *arguments: Any) -> Any:
            self._meet("lockf", _path_of(descriptor), by_path=False)
            return original(descriptor, *arguments)

        return call

    def _meet(self, name: str, path: Any, *, by_path: bool) -> None:
        text = os.path.abspath(os.fsdecode(path))
        if text != self._root and not text.startswith(self._root + os.sep):
            return
        relative = _stable(os.path.relpath(text, self._root))
        count = self._counts.get((name, relative), 0)
        self._counts[name, relative] = count + 1
        call = Call(name, relative, count)
        self.seen.append(call)
        if self._is_failing(call):
            self.has_failed = True
            reason = os.strerror(self._errno)
            raise OSError(self._errno, reason, text) if by_path else OSError(self._errno, reason)

    def _is_failing(self, call: Call) -> bool:
        failing = self._failing
        return (
            failing is not None
            and call.name == failing.name
            and call.number >= failing.number
            and fnmatch.fnmatchcase(call.path, failing.path)
        )


class _Unreadable:
    """An open file that the disk does not read."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def __enter__(self) -> _Unreadable:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, *_: object) -> bytes:
        raise self._error

    def fileno(self) -> int:
        raise self._error


def _path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")


def _stable(relative: str) -> str:
    """Without what is random in the names of unfinished checkpoints."""
    if not relative.endswith(".checkpoint.part"):
        return relative
    directory, name = os.path.split(relative)
    return os.path.join(directory, name[:31] + ".checkpoint")
