"""What `os.scandir` and `os.stat` return for simulated files. There are no inode numbers and no times."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from tests.support.file_states import DirectoryState, FileState, State


def stat_result(state: State) -> os.stat_result:
    if isinstance(state, FileState):
        mode, size_bytes = stat.S_IFREG | state.mode, state.size_bytes
    else:
        mode, size_bytes = stat.S_IFDIR | 0o755, 0
    return os.stat_result((mode, 0, 0, 1, 0, 0, size_bytes, 0, 0, 0))


class SimulatedEntry:
    """What `os.scandir` yields."""

    def __init__(self, directory: str, name: str, state: State) -> None:
        self.name = name
        self.path = f"{directory}/{name}"
        self._state = state

    def __fspath__(self) -> str:
        return self.path

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return isinstance(self._state, DirectoryState)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return isinstance(self._state, FileState)

    def is_symlink(self) -> bool:
        return False

    def is_junction(self) -> bool:
        return False

    def inode(self) -> int:
        return 0

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return stat_result(self._state)


class Scan:
    """An iterator that is also a context."""

    def __init__(self, entries: list[SimulatedEntry]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[SimulatedEntry]:
        return self._entries

    def __next__(self) -> SimulatedEntry:
        return next(self._entries)

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())
