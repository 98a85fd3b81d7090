"""What a power failure leaves of a directory, computed from the calls that changed and forced it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from tests.support.file_states import Aftermath, DirectoryState, FileState, Naming, State, Truncate, Write
from tests.support.lying_disk.journal import Kind, Record

Tree = dict[str, bytes | None]
"""Relative path -> content; None for a directory."""


class DiskModel:
    """A directory tree. `adopt` takes the present content as forced, `play` applies a journal record."""

    def __init__(self, root: Path) -> None:
        self._root = PurePosixPath(root)
        self.tree = DirectoryState()
        self._by_inode: dict[int, State] = {}
        self._forcing: dict[int, tuple[State, int]] = {}

    @classmethod
    def adopt(cls, root: Path) -> DiskModel:
        model = cls(root)
        model.tree = model._adopted(root)
        return model

    def _adopted(self, directory: Path) -> DirectoryState:
        state = DirectoryState()
        self._by_inode[directory.stat().st_ino] = state
        for path in sorted(directory.iterdir()):
            if path.is_dir():
                state.change(Naming({path.name: self._adopted(path)}))
            else:
                file = FileState(path.read_bytes())
                self._by_inode[path.stat().st_ino] = file
                state.change(Naming({path.name: file}))
        state.force(state.changes_count())
        return state

    def play(self, record: Record) -> None:
        match record.kind:
            case Kind.STARTED:
                self._forcing.clear()
            case Kind.STALLED:
                pass
            case Kind.CREATE | Kind.MKDIR:
                made = FileState() if record.kind is Kind.CREATE else DirectoryState()
                self._by_inode[record.inode] = made
                self._set(record.path, made)
            case Kind.WRITE:
                self._file(record.inode).change(Write(record.number, record.data))
            case Kind.TRUNCATE:
                self._file(record.inode).change(Truncate(record.number))
            case Kind.FSYNC_BEGIN:
                state = self._by_inode[record.inode]
                self._forcing[record.number] = (state, state.changes_count())
            case Kind.FSYNC_END:
                state, changes_count = self._forcing.pop(record.number)
                state.force(changes_count)
            case Kind.UNLINK | Kind.RMDIR:
                self._set(record.path, None)
            case Kind.LINK:
                self._set(record.other, self._state(record.path))
            case Kind.RENAME:
                self._rename(record.path, record.other)

    def _rename(self, source: str, target: str) -> None:
        state = self._state(source)
        assert PurePosixPath(source).parent == PurePosixPath(target).parent, "a rename between directories"
        change: dict[str, State | None] = {
            PurePosixPath(target).name: state,
            PurePosixPath(source).name: None,
        }
        self._directory(target).change(Naming(change))

    def _file(self, inode: int) -> FileState:
        state = self._by_inode[inode]
        assert isinstance(state, FileState)
        return state

    def _set(self, path: str, state: State | None) -> None:
        self._directory(path).change(Naming({PurePosixPath(path).name: state}))

    def _state(self, path: str) -> State:
        return self._directory(path).names[PurePosixPath(path).name]

    def _directory(self, path: str) -> DirectoryState:
        """The directory of `path`."""
        directory = self.tree
        for part in PurePosixPath(path).parent.relative_to(self._root).parts:
            found = directory.names[part]
            assert isinstance(found, DirectoryState)
            directory = found
        return directory

    def written(self) -> Tree:
        """Everything there is, forced or not."""
        return _tree(self.tree, lambda directory: directory.names, lambda file: file.content())

    def surviving(self, aftermath: Aftermath, rng: random.Random) -> Tree:
        """The content after a power failure."""
        return _tree(
            self.tree,
            lambda directory: directory.surviving(aftermath, rng),
            lambda file: file.surviving(aftermath, rng).content(),
        )

    def learn(self, path: str) -> None:
        """Read the relative `path`: a process was killed between its last call and the record of it.

        That call is not forced.
        """
        place = self._root / path
        known = self._directory(str(place)).names.get(place.name)
        if not os.path.lexists(place):
            self._set(str(place), None)
            return
        inode = os.stat(place).st_ino
        state = self._by_inode.get(inode)
        if state is None or os.path.isdir(place) is not isinstance(state, DirectoryState):
            state = self._by_inode[inode] = DirectoryState() if os.path.isdir(place) else FileState()
        if state is not known:
            self._set(str(place), state)
        if isinstance(state, FileState):
            _learn_content(state, Path(place).read_bytes())


def _learn_content(state: FileState, content: bytes) -> None:
    """One write at the end, or one truncation, if that explains the difference."""
    known = state.content()
    if content[: len(known)] != known:
        pairs = enumerate(zip(content, known, strict=False))
        shorter = min(len(content), len(known))
        state.change(Truncate(next((at for at, (new, old) in pairs if new != old), shorter)))
    if len(content) > state.size_bytes:
        state.change(Write(state.size_bytes, content[state.size_bytes :]))


def _tree(
    directory: DirectoryState,
    names_of: Callable[[DirectoryState], dict[str, State]],
    content_of: Callable[[FileState], bytes],
    prefix: str = "",
) -> Tree:
    found: Tree = {}
    for name, state in sorted(names_of(directory).items()):
        if isinstance(state, FileState):
            found[prefix + name] = content_of(state)
        else:
            found[prefix + name] = None
            found |= _tree(state, names_of, content_of, f"{prefix}{name}/")
    return found
