"""What a power failure leaves of a directory, computed from the calls that changed and forced it.

The model is as strict as POSIX, and stricter than common file systems: an fsync of a file forces its content
but not its name; a name that was created, changed or removed is forced by an fsync of its directory. An fsync
covers what was written before it began.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePosixPath

from tests.support.lying_disk.journal import Kind, Record

PAGE_BYTES = 4096
"""The unit that the kernel writes back."""


class Aftermath(Enum):
    """What survives of unforced changes. A directory keeps a prefix of them: file systems keep metadata in
    order."""

    STRICT = "only what was forced"
    PREFIX = "of each file a part of its unforced writes from the front, the last one torn"
    PAGES = "of each file any pages, each as it was at any time since it was forced"


@dataclass(frozen=True)
class Write:
    position: int
    data: bytes

    @property
    def end(self) -> int:
        return self.position + len(self.data)


@dataclass(frozen=True)
class Truncate:
    size_bytes: int


def apply(content: bytearray, change: Write | Truncate) -> None:
    if isinstance(change, Truncate):
        if change.size_bytes > len(content):
            content.extend(bytes(change.size_bytes - len(content)))
        else:
            del content[change.size_bytes :]
        return
    if change.position > len(content):
        content.extend(bytes(change.position - len(content)))
    content[change.position : change.end] = change.data


class FileState:
    """One inode: what reads return, what is forced, and the changes in between, oldest first."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.forced = bytearray(content)
        self.pending: list[Write | Truncate] = []
        self.forced_count = 0

    def change(self, change: Write | Truncate) -> None:
        apply(self.content, change)
        self.pending.append(change)

    def changes_count(self) -> int:
        """The number of all changes so far: an fsync that begins now forces them."""
        return self.forced_count + len(self.pending)

    def force(self, changes_count: int) -> None:
        fresh = max(0, changes_count - self.forced_count)
        for change in self.pending[:fresh]:
            apply(self.forced, change)
        del self.pending[:fresh]
        self.forced_count += fresh

    def surviving(self, aftermath: Aftermath, rng: random.Random) -> bytes:
        match aftermath:
            case Aftermath.STRICT:
                return bytes(self.forced)
            case Aftermath.PREFIX:
                return self._prefix(rng)
            case Aftermath.PAGES:
                return self._pages(rng)

    def _prefix(self, rng: random.Random) -> bytes:
        content = bytearray(self.forced)
        kept = _part(len(self.pending), rng)
        for change in self.pending[:kept]:
            apply(content, change)
        if kept < len(self.pending):
            torn = self.pending[kept]
            if isinstance(torn, Write):
                apply(content, Write(torn.position, torn.data[: rng.randrange(len(torn.data))]))
        return bytes(content)

    def _pages(self, rng: random.Random) -> bytes:
        """Truncations survive in order, as metadata does; what is written after the last one that did
        survives page by page, and the size that the file had at any time since."""
        cuts = [at for at, change in enumerate(self.pending) if isinstance(change, Truncate)]
        cut = _part(len(cuts), rng)
        first = 0 if cut == 0 else cuts[cut - 1] + 1
        end = cuts[cut] if cut < len(cuts) else len(self.pending)
        content = bytearray(self.forced)
        for change in self.pending[:first]:
            apply(content, change)
        writes = [change for change in self.pending[first:end] if isinstance(change, Write)]
        size = max([len(content), *(write.end for write in writes[: _part(len(writes), rng)])])
        content.extend(bytes(max([len(content), *(write.end for write in writes)]) - len(content)))
        cached = bytearray(content)
        touched = {page for write in writes for page in _pages_of(write)}
        until = {page: _part(len(writes), rng) for page in sorted(touched)}
        for number, write in enumerate(writes, 1):
            apply(cached, write)
            for page in _pages_of(write):
                if number <= until[page]:
                    start = page * PAGE_BYTES
                    content[start : start + PAGE_BYTES] = cached[start : start + PAGE_BYTES]
        return bytes(content[:size])


def _pages_of(write: Write) -> range:
    return range(write.position // PAGE_BYTES, (write.end - 1) // PAGE_BYTES + 1)


def _part(count: int, rng: random.Random) -> int:
    """None, all, or some of `count`: mistakes show at the extremes."""
    return rng.choice((0, count, rng.randint(0, count)))


class DirectoryState:
    """One directory: its names, its forced names, and the changes in between."""

    def __init__(self) -> None:
        self.names: dict[str, State] = {}
        self.forced: dict[str, State] = {}
        self.pending: list[dict[str, State | None]] = []
        self.forced_count = 0

    def change(self, change: dict[str, State | None]) -> None:
        """Names and the nodes they refer to from now on, None for removed names; an atomic change."""
        _rename(self.names, change)
        self.pending.append(change)

    def changes_count(self) -> int:
        return self.forced_count + len(self.pending)

    def force(self, changes_count: int) -> None:
        fresh = max(0, changes_count - self.forced_count)
        for change in self.pending[:fresh]:
            _rename(self.forced, change)
        del self.pending[:fresh]
        self.forced_count += fresh

    def surviving(self, aftermath: Aftermath, rng: random.Random) -> dict[str, State]:
        names = dict(self.forced)
        if aftermath is not Aftermath.STRICT:
            for change in self.pending[: _part(len(self.pending), rng)]:
                _rename(names, change)
        return names


State = FileState | DirectoryState


def _rename(names: dict[str, State], change: dict[str, State | None]) -> None:
    for name, state in change.items():
        if state is None:
            names.pop(name, None)
        else:
            names[name] = state


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
                state.change({path.name: self._adopted(path)})
            else:
                file = FileState(path.read_bytes())
                self._by_inode[path.stat().st_ino] = file
                state.change({path.name: file})
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
        change = {PurePosixPath(target).name: state, PurePosixPath(source).name: None}
        self._directory(target).change(change)

    def _file(self, inode: int) -> FileState:
        state = self._by_inode[inode]
        assert isinstance(state, FileState)
        return state

    def _set(self, path: str, state: State | None) -> None:
        self._directory(path).change({PurePosixPath(path).name: state})

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
        return _tree(self.tree, lambda directory: directory.names, lambda file: bytes(file.content))

    def surviving(self, aftermath: Aftermath, rng: random.Random) -> Tree:
        """The content after a power failure."""
        return _tree(
            self.tree,
            lambda directory: directory.surviving(aftermath, rng),
            lambda file: file.surviving(aftermath, rng),
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
    if content[: len(state.content)] != state.content:
        pairs = enumerate(zip(content, state.content, strict=False))
        shorter = min(len(content), len(state.content))
        state.change(Truncate(next((at for at, (new, old) in pairs if new != old), shorter)))
    if len(content) > len(state.content):
        state.change(Write(len(state.content), content[len(state.content) :]))


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
