"""The functions of `os`, `io` and `tempfile` that files are used by, for simulated files.

Names, arguments and errors are those of the originals; a path or a descriptor of the system is passed on.
"""

from __future__ import annotations

import builtins
import errno
import glob
import io
import os
import posixpath
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from tests.support.file_states import DirectoryState, FileState, State
from tests.support.simulator.disks.directory_scan import Scan, SimulatedEntry, stat_result
from tests.support.simulator.disks.disk import OpenFile, SimulatedDisk
from tests.support.simulator.disks.file_objects import file_object, flags_of

ROOT = "/simulated"

FIRST_DESCRIPTOR = 1_000_000_000

UMASK = 0o022

_BELOW_ROOT = ROOT + "/"

OF_DESCRIPTORS = (
    "close",
    "read",
    "write",
    "pread",
    "pwrite",
    "lseek",
    "ftruncate",
    "fstat",
    "fsync",
    "fchmod",
)

OF_PATHS = (
    "open", "stat", "lstat", "access", "chmod", "utime", "truncate", "replace", "unlink", "mkdir", "rmdir",
    "listdir", "scandir",
)  # fmt: skip

ALIASES = {"fdatasync": "fsync", "rename": "replace", "remove": "unlink"}


class OsCalls:
    """One table of descriptors; numbers are not used again, so that a closed one is noticed."""

    def __init__(
        self, disks: dict[str, SimulatedDisk], top: DirectoryState, descriptors: dict[int, OpenFile]
    ) -> None:
        self._disks = disks
        self._top = top
        self._descriptors = descriptors
        self._next_descriptor = FIRST_DESCRIPTOR
        self._real = SimpleNamespace()

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Replace the originals until the end of the block."""
        replacements = list(self._replacements())
        originals = [(owner, name, vars(owner)[name]) for owner, name, _ in replacements]
        self._real = SimpleNamespace(**{name: getattr(os, name) for name in OF_DESCRIPTORS + OF_PATHS})
        self._real.open_object = builtins.open
        self._real.mkstemp = tempfile.mkstemp
        try:
            for owner, name, replacement in replacements:
                setattr(owner, name, replacement)
            yield
        finally:
            for owner, name, original in originals:
                setattr(owner, name, original)

    def _replacements(self) -> Iterator[tuple[Any, str, Any]]:
        """The owner of each function, its name there, and ours."""
        for name in OF_DESCRIPTORS + OF_PATHS:
            yield os, name, getattr(self, name)
        for alias, name in ALIASES.items():
            yield os, alias, getattr(self, name)
        yield io, "open", self.open_object
        yield builtins, "open", self.open_object
        yield tempfile, "mkstemp", self.mkstemp
        globber: Any = getattr(
            glob, "_StringGlobber", None
        )  # pathlib globs with its functions in Python 3.13
        for name in ("lstat", "scandir"):
            if globber is not None and getattr(globber, name, None) is getattr(os, name):
                yield globber, name, staticmethod(getattr(self, name))

    # By descriptor.

    def close(self, fd: int) -> None:
        if fd < FIRST_DESCRIPTOR:
            return self._real.close(fd)
        if self._descriptors.pop(fd, None) is None:
            raise _error(errno.EBADF)
        return None

    def read(self, fd: int, length: int) -> bytes:
        if fd < FIRST_DESCRIPTOR:
            return self._real.read(fd, length)
        file = self._file(fd)
        data = file.disk.read(self._readable(file), file.position, length)
        file.position += len(data)
        return data

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        if fd < FIRST_DESCRIPTOR:
            return self._real.pread(fd, length, offset)
        file = self._file(fd)
        return file.disk.read(self._readable(file), offset, length)

    def write(self, fd: int, data: Any) -> int:
        if fd < FIRST_DESCRIPTOR:
            return self._real.write(fd, data)
        file = self._file(fd)
        state = self._writable(file, errno.EBADF)
        position = state.size_bytes if file.appends else file.position
        written = file.disk.write(state, position, bytes(data))
        if written:
            file.position = position + written
        return written

    def pwrite(self, fd: int, data: Any, offset: int) -> int:
        if fd < FIRST_DESCRIPTOR:
            return self._real.pwrite(fd, data, offset)
        file = self._file(fd)
        state = self._writable(file, errno.EBADF)
        return file.disk.write(state, state.size_bytes if file.appends else offset, bytes(data))

    def lseek(self, fd: int, position: int, whence: int) -> int:
        if fd < FIRST_DESCRIPTOR:
            return self._real.lseek(fd, position, whence)
        file = self._file(fd)
        size_bytes = self.fstat(fd).st_size if whence == os.SEEK_END else 0
        at = position + (0, file.position, size_bytes)[whence]
        if at < 0:
            raise _error(errno.EINVAL)
        file.position = at
        return at

    def ftruncate(self, fd: int, length: int) -> None:
        if fd < FIRST_DESCRIPTOR:
            return self._real.ftruncate(fd, length)
        file = self._file(fd)
        return file.disk.truncate(self._writable(file, errno.EINVAL), length)

    def fstat(self, fd: int) -> os.stat_result:
        if fd < FIRST_DESCRIPTOR:
            return self._real.fstat(fd)
        file = self._file(fd)
        if file.state.held_count:
            file.disk.meet(file.state)
        return stat_result(file.state)

    def fsync(self, fd: Any) -> None:
        number = fd if type(fd) is int else fd.fileno()
        if number < FIRST_DESCRIPTOR:
            return self._real.fsync(fd)
        file = self._file(number)
        return file.disk.fsync(file.state)

    def fchmod(self, fd: int, mode: int) -> None:
        if fd < FIRST_DESCRIPTOR:
            return self._real.fchmod(fd, mode)
        state = self._file(fd).state
        if isinstance(state, FileState):
            state.mode = mode
        return None

    def _file(self, fd: int) -> OpenFile:
        file = self._descriptors.get(fd)
        if file is None:
            raise _error(errno.EBADF)
        return file

    def _readable(self, file: OpenFile) -> FileState:
        if not isinstance(file.state, FileState):
            raise _error(errno.EISDIR)
        if not file.readable:
            raise _error(errno.EBADF)
        return file.state

    def _writable(self, file: OpenFile, otherwise: int) -> FileState:
        if not file.writable or not isinstance(file.state, FileState):
            raise _error(otherwise)
        return file.state

    # By path.

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        name = _simulated(path)
        if name is None:
            return self._real.open(path, flags, mode, dir_fd=dir_fd)
        disk, directory, last = self._locate(name)
        state = self._named(directory, last)
        if state is None:
            if not flags & os.O_CREAT:
                raise _error(errno.ENOENT, name)
            state = FileState(mode=mode & ~UMASK)
            disk.rename(directory, {last: state})
        elif flags & os.O_CREAT and flags & os.O_EXCL:
            raise _error(errno.EEXIST, name)
        elif isinstance(state, DirectoryState):
            if flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC):
                raise _error(errno.EISDIR, name)
        elif flags & os.O_DIRECTORY:
            raise _error(errno.ENOTDIR, name)
        elif flags & os.O_TRUNC and state.size_bytes:
            disk.truncate(state, 0)
        number = self._next_descriptor
        self._next_descriptor = number + 1
        self._descriptors[number] = OpenFile(disk, state, flags)
        return number

    def stat(self, path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if type(path) is int and path >= FIRST_DESCRIPTOR:
            return self.fstat(path)
        name = _simulated(path)
        if name is None:
            return self._real.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        return stat_result(self._existing(name))

    def lstat(self, path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        name = _simulated(path)
        return self._real.lstat(path, dir_fd=dir_fd) if name is None else stat_result(self._existing(name))

    def access(self, path: Any, mode: int, **keywords: Any) -> bool:
        name = _simulated(path)
        if name is None:
            return self._real.access(path, mode, **keywords)
        try:
            self._existing(name)
        except OSError:
            return False
        return True

    def chmod(self, path: Any, mode: int, **keywords: Any) -> None:
        name = _simulated(path)
        if name is None:
            return self._real.chmod(path, mode, **keywords)
        state = self._existing(name)
        if isinstance(state, FileState):
            state.mode = mode
        return None

    def utime(self, path: Any, *arguments: Any, **keywords: Any) -> None:
        """Times are not kept."""
        name = _simulated(path)
        if name is None:
            return self._real.utime(path, *arguments, **keywords)
        self._existing(name)
        return None

    def truncate(self, path: Any, length: int) -> None:
        if type(path) is int and path >= FIRST_DESCRIPTOR:
            return self.ftruncate(path, length)
        name = _simulated(path)
        if name is None:
            return self._real.truncate(path, length)
        disk, directory, last = self._locate(name)
        state = self._named(directory, last)
        if not isinstance(state, FileState):
            raise _error(errno.ENOENT if state is None else errno.EISDIR, name)
        return disk.truncate(state, length)

    def replace(self, src: Any, dst: Any, **keywords: Any) -> None:
        source, target = _simulated(src), _simulated(dst)
        if source is None and target is None:
            return self._real.replace(src, dst, **keywords)
        if source is None or target is None:
            raise _error(errno.EXDEV, source or target)
        disk, directory, last = self._locate(source)
        _, target_directory, target_last = self._locate(target)
        state = self._named(directory, last)
        replaced = self._named(target_directory, target_last)
        if state is None:
            raise _error(errno.ENOENT, source)
        assert directory is target_directory, "a rename between directories"
        if replaced is state:
            return None
        if isinstance(replaced, DirectoryState):
            if not isinstance(state, DirectoryState):
                raise _error(errno.EISDIR, source)
            if replaced.names:
                raise _error(errno.ENOTEMPTY, source)
        elif replaced is not None and isinstance(state, DirectoryState):
            raise _error(errno.ENOTDIR, source)
        return disk.rename(directory, {target_last: state, last: None})

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        name = _simulated(path)
        if name is None:
            return self._real.unlink(path, dir_fd=dir_fd)
        disk, directory, last = self._locate(name)
        state = directory.names.get(last)
        if not isinstance(state, FileState):
            raise _error(errno.ENOENT if state is None and last else errno.EISDIR, name)
        return disk.rename(directory, {last: None})

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        name = _simulated(path)
        if name is None:
            return self._real.mkdir(path, mode, dir_fd=dir_fd)
        if name == ROOT:
            raise _error(errno.EEXIST, name)
        disk, directory, last = self._locate(name)
        if self._named(directory, last) is not None:
            raise _error(errno.EEXIST, name)
        return disk.rename(directory, {last: DirectoryState()})

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        name = _simulated(path)
        if name is None:
            return self._real.rmdir(path, dir_fd=dir_fd)
        disk, directory, last = self._locate(name)
        state = self._named(directory, last)
        if not isinstance(state, DirectoryState):
            raise _error(errno.ENOENT if state is None else errno.ENOTDIR, name)
        if state.names:
            raise _error(errno.ENOTEMPTY, name)
        return disk.rename(directory, {last: None})

    def listdir(self, path: Any = ".") -> list[str]:
        name = _simulated(path)
        return self._real.listdir(path) if name is None else list(self._directory(name).names)

    def scandir(self, path: Any = ".") -> Any:
        name = _simulated(path)
        if name is None:
            return self._real.scandir(path)
        return Scan([SimulatedEntry(name, *entry) for entry in self._directory(name).names.items()])

    def open_object(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """The built-in `open`."""
        number = file if type(file) is int else -1
        name = _simulated(file) if number < 0 else None
        if name is None and number < FIRST_DESCRIPTOR:
            return self._real.open_object(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if name is not None:
            number = self.open(name, flags_of(mode), 0o644)
            if isinstance(self._descriptors[number].state, DirectoryState):
                self.close(number)
                raise _error(errno.EISDIR, name)
            if "a" in mode:
                self.lseek(number, 0, os.SEEK_END)
        return file_object(number, mode, buffering, encoding, errors, newline, closefd)

    def mkstemp(
        self, suffix: Any = None, prefix: Any = None, dir: Any = None, text: bool = False
    ) -> tuple[int, str]:
        """With a number instead of random letters."""
        name = None if dir is None else _simulated(dir)
        if name is None:
            return self._real.mkstemp(suffix, prefix, dir, text)
        disk, _, _ = self._locate(name + "/x")
        while True:
            disk.temporary_names_count += 1
            path = f"{name}/{prefix or 'tmp'}{disk.temporary_names_count:08}{suffix or ''}"
            try:
                return self.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), path
            except FileExistsError:
                continue

    def _locate(self, path: str) -> tuple[SimulatedDisk, DirectoryState, str]:
        """The disk of `path`, its directory there, and its last part: empty for the root of the disk."""
        parts = path.split("/")
        disk = self._disks.get(parts[2]) if len(parts) > 2 else None
        if disk is None:
            raise _error(errno.ENOENT, path)
        directory = disk.tree
        for part in parts[3:-1]:
            if directory.held_count:
                disk.meet(directory)
            found = directory.names.get(part)
            if not isinstance(found, DirectoryState):
                raise _error(errno.ENOENT if found is None else errno.ENOTDIR, path)
            directory = found
        if len(parts) == 3:
            return disk, directory, ""
        if directory.held_count:
            disk.meet(directory)
        return disk, directory, parts[-1]

    def _named(self, directory: DirectoryState, last: str) -> State | None:
        return directory.names.get(last) if last else directory

    def _existing(self, path: str) -> State:
        if path == ROOT:
            return self._top
        disk, directory, last = self._locate(path)
        state = directory.names.get(last) if last else directory
        if state is None:
            raise _error(errno.ENOENT, path)
        if state.held_count:
            disk.meet(state)
        return state

    def _directory(self, path: str) -> DirectoryState:
        state = self._existing(path)
        if not isinstance(state, DirectoryState):
            raise _error(errno.ENOTDIR, path)
        return state


def _simulated(path: Any) -> str | None:
    """The path as text, if it is one of a simulated file."""
    if type(path) is not str:
        if isinstance(path, int):
            return None
        path = os.fspath(path)
        if type(path) is not str:
            return None
    if not path.startswith(_BELOW_ROOT):
        return ROOT if path == ROOT else None
    if "//" in path or "/." in path or path[-1] == "/":
        path = posixpath.normpath(path)
        return path if path.startswith(_BELOW_ROOT) or path == ROOT else None
    return path


def _error(number: int, path: str | None = None) -> OSError:
    return (
        OSError(number, os.strerror(number)) if path is None else OSError(number, os.strerror(number), path)
    )
