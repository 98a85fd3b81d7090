"""A disk that fails at a chosen call and then holds what a power failure may have left.

It stands between storage and the real file system of a test directory. Every call that changes something is
counted; from the chosen one on, all of them raise PowerFailure. What a file held at its last fsync is
remembered, and which names a directory had at its own: only that much is sure to survive.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

KILLED = "killed"
"""The process died, the system did not: everything that was written is there."""

ONLY_FLUSHED = "only-flushed"
"""The power failed and nothing survived but what was flushed."""

TORN = "torn"
"""The power failed; all names survived, and of unflushed bytes a part from the front."""

OUT_OF_ORDER = "out-of-order"
"""The power failed; all names survived, and of what was not flushed any sectors, in no order."""

AFTERMATHS = [KILLED, ONLY_FLUSHED, TORN, OUT_OF_ORDER]

SECTOR_BYTES = 512

SMALL_SECTOR_BYTES = 64
"""For the log: its batches are so short that many of them would share a real sector."""


class PowerFailure(BaseException):
    """Not an Exception: nothing may handle it."""


class FailingDisk:
    """`attach` it, let it fail, then `leave` what survived in a fresh directory."""

    def __init__(self, root: Path, fail_at: int) -> None:
        self.root = root
        self.calls_count = 0
        self._fail_at = fail_at
        self._next_file = 0
        self._files: dict[str, int] = {}
        self._durable_files: dict[str, int] = {}
        self._durable_content: dict[int, bytes] = {}

    def attach(self, patch: pytest.MonkeyPatch) -> None:
        """Replace the calls of `os` until the patch is undone."""
        self._open, self._fsync, self._pwrite = os.open, os.fsync, os.pwrite
        self._write, self._replace, self._unlink = os.write, os.replace, os.unlink
        self._ftruncate = os.ftruncate
        patch.setattr(os, "open", self.open)
        patch.setattr(os, "fsync", self.fsync)
        patch.setattr(os, "fdatasync", self.fsync)
        patch.setattr(os, "pwrite", self.pwrite)
        patch.setattr(os, "write", self.write)
        patch.setattr(os, "replace", self.replace)
        patch.setattr(os, "unlink", self.unlink)
        patch.setattr(os, "ftruncate", self.ftruncate)

    def open(self, path, flags, mode=0o777, *, dir_fd=None):
        creates = bool(flags & os.O_CREAT) and not os.path.exists(path)
        if creates:
            self._count()
            self._files[str(path)] = self._next_file
            self._next_file += 1
        return self._open(path, flags, mode, dir_fd=dir_fd)

    def fsync(self, descriptor: int) -> None:
        self._count()
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            kept = {name: file for name, file in self._durable_files.items() if os.path.dirname(name) != path}
            here = {name: file for name, file in self._files.items() if os.path.dirname(name) == path}
            self._durable_files = kept | here
        elif path in self._files and not path.endswith("index"):
            self._durable_content[self._files[path]] = Path(path).read_bytes()

    def pwrite(self, descriptor, data, position):
        self._count()
        return self._pwrite(descriptor, data, position)

    def write(self, descriptor, data):
        self._count()
        return self._write(descriptor, data)

    def ftruncate(self, descriptor, size):
        self._count()
        return self._ftruncate(descriptor, size)

    def replace(self, source, target, **keywords):
        self._count()
        self._replace(source, target, **keywords)
        self._files[str(target)] = self._files.pop(str(source))

    def unlink(self, path, **keywords):
        self._count()
        self._unlink(path, **keywords)
        self._files.pop(str(path), None)

    def _count(self) -> None:
        self.calls_count += 1
        if self.calls_count >= self._fail_at:
            raise PowerFailure

    def leave(self, aftermath: str, target: Path, rng: random.Random) -> None:
        """Put what survived into `target`."""
        names = self._durable_files if aftermath == ONLY_FLUSHED else self._files
        for name, file in names.items():
            copy = target / Path(name).relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(self._surviving(aftermath, name, file, rng))

    def _surviving(self, aftermath: str, name: str, file: int, rng: random.Random) -> bytes:
        if name.endswith("index"):
            return b""  # large, sparse and rebuilt anyway
        durable = self._durable_content.get(file, b"")
        if aftermath == ONLY_FLUSHED:
            return durable
        current = Path(name).read_bytes()
        if aftermath == OUT_OF_ORDER:
            sector_bytes = SMALL_SECTOR_BYTES if name.endswith(".log") else SECTOR_BYTES
            return _any_sectors(durable, current, sector_bytes, rng)
        if aftermath == KILLED or not current.startswith(durable):
            return current
        return current[: rng.randint(len(durable), len(current))]


def _any_sectors(durable: bytes, current: bytes, sector_bytes: int, rng: random.Random) -> bytes:
    """`current`, each sector of which was written back or not; a file that was shortened, as one."""
    if len(current) < len(durable):
        return rng.choice([current, durable])
    before = durable.ljust(len(current), b"\0")
    starts = range(0, len(current), sector_bytes)
    return b"".join(rng.choice([before, current])[at : at + sector_bytes] for at in starts)
