"""Files and directories as a disk holds them: what is read, what is forced, and the changes in between.

The model is as strict as POSIX, and stricter than common file systems: an fsync of a file forces its content
but not its name; a name that was created, changed or removed is forced by an fsync of its directory. An fsync
covers what was written before it began.

Each change keeps what it replaced. To force changes is to forget them; a power failure undoes some.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Generic, TypeVar

PAGE_BYTES = 4096
"""The unit that the kernel writes back."""


class Aftermath(Enum):
    """What survives of unforced changes. A directory keeps a prefix of them: file systems keep metadata in
    order."""

    STRICT = "only what was forced"
    PREFIX = "of each file a part of its unforced writes from the front, the last one torn"
    PAGES = "of each file any pages, each as it was at any time since it was forced"


class FileContent:
    """Bytes with a hole at the end: `size_bytes` counts it, `data` does not, and it reads as zeros."""

    __slots__ = ("data", "size_bytes")

    def __init__(self, content: bytes | bytearray = b"", size_bytes: int = 0) -> None:
        self.data = bytearray(content)
        self.size_bytes = max(size_bytes, len(content))

    def copy(self) -> FileContent:
        return FileContent(self.data, self.size_bytes)

    def content(self) -> bytes:
        """All of it, with the hole."""
        return bytes(self.data).ljust(self.size_bytes, b"\0")

    def read(self, position: int, size_bytes: int) -> bytes:
        """At most `size_bytes` from `position` on."""
        end = position + size_bytes
        found = bytes(self.data[position:end])
        if len(found) == size_bytes or len(self.data) == self.size_bytes:
            return found
        return found.ljust(max(0, min(end, self.size_bytes) - position), b"\0")

    def write(self, position: int, data: bytes) -> None:
        length = len(self.data)
        if position == length:
            self.data += data
        else:
            if position > length:
                self.data.extend(bytes(position - length))
            self.data[position : position + len(data)] = data
        if position + len(data) > self.size_bytes:
            self.size_bytes = position + len(data)

    def truncate(self, size_bytes: int) -> None:
        """Cut the end off, or extend the hole."""
        del self.data[size_bytes:]
        self.size_bytes = size_bytes


class Write:
    """Bytes written at a position, and what was there before. Not empty."""

    __slots__ = ("before", "data", "length_before", "position", "size_before")

    def __init__(self, position: int, data: bytes) -> None:
        self.position = position
        self.data = data

    @property
    def end(self) -> int:
        return self.position + len(self.data)

    def apply(self, content: FileContent) -> None:
        self.size_before = content.size_bytes
        length = self.length_before = len(content.data)
        position = self.position
        if position < length:
            self.before = bytes(content.data[position : position + len(self.data)])
        else:
            self.before = b""
        content.write(position, self.data)

    def undo(self, content: FileContent) -> None:
        """`content` is what `apply` left."""
        del content.data[self.length_before :]
        content.data[self.position : self.position + len(self.before)] = self.before
        content.size_bytes = self.size_before


class Truncate:
    """A new size, and the bytes that it cut."""

    __slots__ = ("before", "size_before", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    def apply(self, content: FileContent) -> None:
        self.size_before = content.size_bytes
        self.before = bytes(content.data[self.size_bytes :])
        content.truncate(self.size_bytes)

    def undo(self, content: FileContent) -> None:
        content.data += self.before
        content.size_bytes = self.size_before


class Naming:
    """Names and the states they refer to from now on, None for removed names; an atomic change."""

    __slots__ = ("before", "names")

    def __init__(self, names: dict[str, State | None]) -> None:
        self.names = names

    def apply(self, names: dict[str, State]) -> None:
        self.before = {name: names.get(name) for name in self.names}
        _rename(names, self.names)

    def undo(self, names: dict[str, State]) -> None:
        _rename(names, self.before)


def _rename(names: dict[str, State], change: dict[str, State | None]) -> None:
    for name, state in change.items():
        if state is None:
            names.pop(name, None)
        else:
            names[name] = state


FileChange = Write | Truncate
Change = TypeVar("Change", FileChange, Naming)


class PendingChanges(ABC, Generic[Change]):
    """The changes that are not forced, oldest first. The process that made the last `held_count` of them may
    not have got there yet: no fsync forces those."""

    def __init__(self) -> None:
        self.pending: list[Change] = []
        self.forced_count = 0
        self.held_count = 0

    @abstractmethod
    def change(self, change: Change) -> None:
        """Apply a change, and keep it as the latest."""

    @abstractmethod
    def _undo(self, change: Change) -> None:
        """Undo the latest change."""

    def changes_count(self) -> int:
        """The number of all changes so far: an fsync that begins now forces them."""
        return self.forced_count + len(self.pending)

    def force(self, changes_count: int) -> None:
        """The end of an fsync that began when there were `changes_count` changes."""
        pending = self.pending
        fresh = min(changes_count - self.forced_count, len(pending) - self.held_count)
        if fresh > 0:
            del pending[:fresh]
            self.forced_count += fresh

    def drop_held(self) -> None:
        """The process did not get there."""
        while self.held_count:
            self._undo(self.pending.pop())
            self.held_count -= 1

    def drop_pending(self) -> None:
        """Undo everything that is not forced."""
        self.held_count = 0
        self.forced_count += len(self.pending)
        while self.pending:
            self._undo(self.pending.pop())


class FileState(FileContent, PendingChanges[FileChange]):
    """One inode. A new one is forced as it is."""

    def __init__(self, content: bytes | bytearray = b"", size_bytes: int = 0, mode: int = 0o644) -> None:
        FileContent.__init__(self, content, size_bytes)
        PendingChanges.__init__(self)
        self.mode = mode

    def change(self, change: FileChange) -> None:
        change.apply(self)
        self.pending.append(change)

    def forced_content(self) -> FileContent:
        """A copy of what is on the disk for certain."""
        content = self.copy()
        for change in reversed(self.pending):
            change.undo(content)
        return content

    def _undo(self, change: FileChange) -> None:
        change.undo(self)

    def change_below(self, damage: Callable[[FileContent], None]) -> None:
        """Change what is forced, below the pending changes."""
        for change in reversed(self.pending):
            change.undo(self)
        damage(self)
        for change in self.pending:
            change.apply(self)

    def become(self, content: FileContent) -> None:
        """Hold `content`, forced."""
        self.data, self.size_bytes = content.data, content.size_bytes
        self.force(self.changes_count())

    def surviving(self, aftermath: Aftermath, rng: random.Random, unit_bytes: int = PAGE_BYTES) -> Survivor:
        """What a power failure leaves. `unit_bytes` is what PAGES writes back as a whole."""
        survivor = Survivor(self.data, self.size_bytes)
        for change in reversed(self.pending):
            change.undo(survivor)
        pending = self.pending
        match aftermath:
            case Aftermath.STRICT:
                survivor.note(pending, [0] * len(pending))
            case Aftermath.PREFIX:
                _leave_prefix(survivor, pending, rng)
            case Aftermath.PAGES:
                _leave_pages(survivor, pending, rng, unit_bytes)
        return survivor


def _repeat(change: FileChange, content: FileContent) -> None:
    if isinstance(change, Write):
        content.write(change.position, change.data)
    else:
        content.truncate(change.size_bytes)


class Survivor(FileContent):
    """The content of a file after a power failure, and what it lost of the writes that were not forced."""

    __slots__ = ("lost_bytes", "reordered", "torn")

    def __init__(self, content: bytes | bytearray = b"", size_bytes: int = 0) -> None:
        super().__init__(content, size_bytes)
        self.lost_bytes = 0
        self.torn = False
        """A write survived in part."""
        self.reordered = False
        """A write survived that came after a lost one, or a part of a write without an earlier part of it."""

    def note(self, changes: Sequence[FileChange], kept_bytes: Sequence[int]) -> None:
        """How much survived of each write."""
        for change, kept in zip(changes, kept_bytes, strict=True):
            if isinstance(change, Write):
                self.reordered |= self.lost_bytes > 0 and kept > 0
                self.torn |= 0 < kept < len(change.data)
                self.lost_bytes += len(change.data) - kept


def _leave_prefix(survivor: Survivor, pending: list[FileChange], rng: random.Random) -> None:
    kept = part_of(len(pending), rng)
    kept_bytes = [0] * len(pending)
    for at, change in enumerate(pending[:kept]):
        _repeat(change, survivor)
        kept_bytes[at] = len(change.data) if isinstance(change, Write) else 0
    if kept < len(pending):
        torn = pending[kept]
        if isinstance(torn, Write):
            kept_bytes[kept] = rng.randrange(len(torn.data))
            if kept_bytes[kept]:
                survivor.write(torn.position, torn.data[: kept_bytes[kept]])
    survivor.note(pending, kept_bytes)


def _leave_pages(survivor: Survivor, pending: list[FileChange], rng: random.Random, unit_bytes: int) -> None:
    """Truncations survive in order, as metadata does; what is written after the last one that did survives
    page by page, and the size that the file had at any time since."""
    cuts = [at for at, change in enumerate(pending) if isinstance(change, Truncate)]
    cut = part_of(len(cuts), rng)
    first = 0 if cut == 0 else cuts[cut - 1] + 1
    end = cuts[cut] if cut < len(cuts) else len(pending)
    for change in pending[:first]:
        _repeat(change, survivor)
    writes = [change for change in pending[first:end] if isinstance(change, Write)]
    size_bytes = max([survivor.size_bytes, *(write.end for write in writes[: part_of(len(writes), rng)])])
    touched = {page for write in writes for page in _pages_of(write, unit_bytes)}
    until = {page: part_of(len(writes), rng) for page in sorted(touched)}
    kept_bytes: list[int] = []
    for number, write in enumerate(writes, 1):
        kept = 0
        for page in _pages_of(write, unit_bytes):
            if number <= until[page]:
                at = max(write.position, page * unit_bytes)
                upto = min(write.end, (page + 1) * unit_bytes, size_bytes)
                if at < upto:
                    survivor.reordered |= kept < at - write.position
                    survivor.write(at, write.data[at - write.position : upto - write.position])
                    kept += upto - at
        kept_bytes.append(kept)
    if survivor.size_bytes < size_bytes:
        survivor.truncate(size_bytes)
    lost = [change for change in pending[end:] if isinstance(change, Write)]
    survivor.note([*writes, *lost], [*kept_bytes, *[0] * len(lost)])


def _pages_of(write: Write, unit_bytes: int) -> range:
    return range(write.position // unit_bytes, (write.end - 1) // unit_bytes + 1)


def part_of(count: int, rng: random.Random) -> int:
    """None, all, or some of `count`: mistakes show at the extremes."""
    return rng.choice((0, count, rng.randint(0, count)))


class DirectoryState(PendingChanges[Naming]):
    """One directory: its names, and the changes of them that are not forced."""

    def __init__(self) -> None:
        super().__init__()
        self.names: dict[str, State] = {}

    def change(self, change: Naming) -> None:
        change.apply(self.names)
        self.pending.append(change)

    def _undo(self, change: Naming) -> None:
        change.undo(self.names)

    def become(self, names: dict[str, State]) -> None:
        """Have `names`, forced."""
        self.names = names
        self.force(self.changes_count())

    def surviving(self, aftermath: Aftermath, rng: random.Random) -> dict[str, State]:
        kept = 0 if aftermath is Aftermath.STRICT else part_of(len(self.pending), rng)
        names = dict(self.names)
        for change in reversed(self.pending[kept:]):
            change.undo(names)
        return names


State = FileState | DirectoryState
