"""Simulated files behave as real ones: random calls have the same results on both."""

from __future__ import annotations

import builtins
import io
import os
import random
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.effort import seeds
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.simulator.disks.os_calls import UMASK

SEEDS = 60


class RandomWork:
    """Calls with random arguments in a directory; the same seed makes the same calls."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.rng = random.Random(seed)
        self.descriptors: list[int] = []

    def results(self, count: int) -> list[object]:
        return [self._step() for _ in range(count)] + [self._found()]

    def _step(self) -> object:
        action = self.rng.choice(ACTIONS)
        try:
            result = action(self)
        except OSError as error:
            result = type(error), error.errno
        return action.__name__, result

    def _found(self) -> object:
        return sorted(
            (str(path.relative_to(self.root)), path.read_bytes() if path.is_file() else None)
            for path in self.root.rglob("*")
        )

    def path(self) -> Path:
        return self.root / self.rng.choice(("a", "b", "c", "in", "in/a", "in/b", "a/b", "other/a"))

    def beside(self, path: Path) -> Path:
        return path.with_name(self.rng.choice(("a", "b", "c", "in")))

    def descriptor(self) -> int:
        number = self.rng.randrange(12)
        return self.descriptors[-number] if 0 < number <= len(self.descriptors) else 999_999

    def data(self) -> bytes:
        return self.rng.randbytes(self.rng.choice((0, 1, 7, 700)))

    def position(self) -> int:
        return self.rng.choice((0, 3, 500, 2000))


def _open(work: RandomWork) -> None:
    flags = work.rng.choice((os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR))
    for flag in (os.O_CREAT, os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_DIRECTORY):
        flags |= work.rng.choice((0, flag, 0) if flag != os.O_CREAT else (flag, 0))
    if flags & os.O_DIRECTORY and flags & os.O_CREAT:
        flags &= ~os.O_DIRECTORY  # kernels differ
    if flags & os.O_EXCL and not flags & os.O_CREAT:
        flags &= ~os.O_EXCL  # undefined
    work.descriptors.append(os.open(work.path(), flags, 0o644))


def _close(work: RandomWork) -> None:
    number = work.descriptor()
    if number in work.descriptors:
        work.descriptors.remove(number)
    os.close(number)


def _replace(work: RandomWork) -> object:
    path = work.path()
    return work.rng.choice((os.replace, os.rename))(path, work.beside(path))


def _open_object(work: RandomWork) -> object:
    mode = work.rng.choice(("r", "w", "a", "x")) + work.rng.choice(("", "+")) + work.rng.choice(("b", ""))
    data = work.rng.choice(("", "one\ntwo", "three\n"))
    path = work.path()
    with open(path, mode, encoding=None if "b" in mode else "latin-1") as file:
        found = file.read() if file.readable() else None
        done = file.write(data.encode() if "b" in mode else data) if file.writable() else None
        at = file.tell()
    return found, done, at


def _sizes(work: RandomWork) -> object:
    """Those of directories depend on the file system."""
    found = os.fstat(work.descriptor())
    return found.st_mode, None if stat.S_ISDIR(found.st_mode) else found.st_size


def _seek(work: RandomWork) -> object:
    descriptor, position, whence = work.descriptor(), work.position(), work.rng.randrange(3)
    is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
    return None if is_directory else os.lseek(descriptor, position, whence)


def _scan(work: RandomWork) -> object:
    with os.scandir(work.path()) as entries:
        return sorted((entry.name, entry.is_dir(), entry.is_file(), entry.is_symlink()) for entry in entries)


def _read_text(work: RandomWork) -> str:
    return work.path().read_text(encoding="latin-1")


def _facts(work: RandomWork) -> object:
    path = work.path()
    listed = os.path.exists(path), os.path.isdir(path), path.is_file(), os.access(path, os.R_OK)
    return *listed, path.stat().st_mode, path.stat().st_size if path.is_file() else None


def _create(work: RandomWork) -> None:
    number = os.open(work.path(), os.O_RDWR | os.O_CREAT, 0o644)
    work.descriptors.append(number)


ACTIONS: list[Callable[[RandomWork], object]] = [
    _open,
    _create,
    _close,
    _replace,
    _open_object,
    _sizes,
    _seek,
    _scan,
    _read_text,
    _facts,
    lambda work: os.read(work.descriptor(), 300),
    lambda work: os.pread(work.descriptor(), 900, work.position()),
    lambda work: os.write(work.descriptor(), work.data()),
    lambda work: os.write(work.descriptor(), memoryview(work.data())),
    lambda work: os.pwrite(work.descriptor(), work.data(), work.position()),
    lambda work: os.ftruncate(work.descriptor(), work.position()),
    lambda work: os.truncate(work.path(), work.position()),
    lambda work: os.fsync(work.descriptor()),
    lambda work: os.fdatasync(work.descriptor()),
    lambda work: os.unlink(work.path()),
    lambda work: os.remove(work.path()),
    lambda work: os.mkdir(work.path()),
    lambda work: work.path().mkdir(parents=work.rng.random() < 0.5, exist_ok=True),
    lambda work: os.rmdir(work.path()),
    lambda work: sorted(os.listdir(work.path())),
    lambda work: sorted(path.name for path in work.path().glob("*")),
    lambda work: sorted(path.name for path in work.root.rglob("?")),
    lambda work: work.path().unlink(missing_ok=True),
    lambda work: work.path().touch(),
    lambda work: work.path().write_bytes(work.data()),
]


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_calls_have_the_results_of_real_files(tmp_path: Path, seed: int) -> None:
    files = SimulatedFiles()
    root = files.disk("node-1").root
    real = RandomWork(tmp_path, seed)
    umask = os.umask(UMASK)
    try:
        with files.attach():
            expected = real.results(300)
            assert RandomWork(root, seed).results(300) == expected
    finally:
        os.umask(umask)
        for descriptor in real.descriptors:
            os.close(descriptor)


def test_the_originals_are_back_afterwards() -> None:
    before = [os.open, os.stat, os.fdatasync, os.remove, io.open, builtins.open, tempfile.mkstemp]
    with SimulatedFiles().attach():
        assert os.open is not before[0]
    assert [os.open, os.stat, os.fdatasync, os.remove, io.open, builtins.open, tempfile.mkstemp] == before
    assert not os.path.exists("/simulated")


def test_disks_are_apart() -> None:
    files = SimulatedFiles()
    one, other = files.disk("node-1"), files.disk("node-2")
    with files.attach():
        (one.root / "file").write_bytes(b"one")
        assert not (other.root / "file").exists()
        assert sorted(os.listdir("/simulated")) == ["node-1", "node-2"]
        with pytest.raises(FileNotFoundError):
            os.mkdir("/simulated/node-3")
        one.kill(random.Random(0))
        assert (one.root / "../node-1/./file").read_bytes() == b"one"
