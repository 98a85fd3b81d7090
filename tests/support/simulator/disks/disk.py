"""The disk of one simulated node: a directory tree in memory that loses power, fills up and fails.

The code of a storage call runs at one virtual time; the call takes some. A LATE call runs at its end, and
needs nothing from here. An EARLY call runs at its beginning, between `begin` and `code_ended`. Its fsyncs
end, and the changes after its first fsync happen, at some time before `finish`. Until then no other fsync
forces these changes. Once other code meets one of them, or a lock that the call released after its first
fsync, the call has got there: in a real process, the other code would have waited.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path

from tests.support.file_states import (
    PAGE_BYTES,
    Aftermath,
    DirectoryState,
    FileChange,
    FileState,
    Naming,
    State,
    Truncate,
    Write,
    part_of,
)
from tests.support.simulator.disks import disk_faults
from tests.support.simulator.disks.backup import Backup
from tests.support.simulator.disks.disk_faults import KINDS, Damage, files_in
from tests.support.simulator.disks.storage_call import CHANGE, CallLock, StorageCall

SECTOR_BYTES = 512

SMALL_SECTOR_BYTES = 64
"""For the log: its batches are so short that many of them would share a real sector."""


class ProcessEnded(BaseException):
    """The process of this disk ends at this call. Not an Exception: nothing may handle it."""


class Failing(Enum):
    """How often calls of a kind fail."""

    ONCE = "once"
    ALWAYS = "always"


class OpenFile:
    """One descriptor."""

    __slots__ = ("appends", "disk", "position", "readable", "state", "writable")

    def __init__(self, disk: SimulatedDisk, state: State, flags: int) -> None:
        access = flags & os.O_ACCMODE
        self.disk = disk
        self.state = state
        self.position = 0
        self.readable = access != os.O_WRONLY
        self.writable = access != os.O_RDONLY
        self.appends = bool(flags & os.O_APPEND)


class PowerLoss:
    """What a power failure took from a disk."""

    __slots__ = ("lost_bytes", "lost_names_count", "reordered_count", "torn_count")

    def __init__(self) -> None:
        self.lost_bytes = 0
        """Written, not forced, and gone."""
        self.torn_count = 0
        """Files with a write that survived in part."""
        self.reordered_count = 0
        """Files with a write that survived although an earlier one did not."""
        self.lost_names_count = 0
        """Names that were created, changed or removed, and are what they were."""

    def __str__(self) -> str:
        return (
            f"{self.lost_bytes} bytes lost, {self.torn_count} files torn, {self.reordered_count} reordered,"
            f" {self.lost_names_count} names as before"
        )


class SimulatedDisk:
    """Create it with `SimulatedFiles.disk`. One process at a time uses it; its files lie in `root`."""

    def __init__(self, root: Path, descriptors: dict[int, OpenFile]) -> None:
        self.root = root
        self.tree = DirectoryState()
        self.bytes_left: int | None = None
        """Room for this many more; None without a limit."""
        self.fsync_fails: Failing | None = None
        """A failing fsync drops what it should have forced, as Linux does with pages it could not write."""
        self.read_fails: Failing | None = None
        self.calls_left: int | None = None
        """After this many more changing calls (fsyncs among them), all raise ProcessEnded."""
        self.no_space_count = 0
        self.fsync_failures_count = 0
        self.read_failures_count = 0
        self.temporary_names_count = 0
        self._descriptors = descriptors
        self._call: StorageCall | None = None
        self._unfinished: list[StorageCall] = []

    # What the replaced functions of `os` call.

    def meet(self, state: State | CallLock) -> None:
        """The code that runs now depends on what `state` holds: an unfinished call that changed it has got
        there."""
        for call in self._unfinished:
            if call is not self._call:
                call.carry_out(call.last_change_of(state))

    def read(self, state: FileState, position: int, size_bytes: int) -> bytes:
        if state.held_count:
            self.meet(state)
        if self.read_fails is not None:
            self.read_failures_count += 1
            self.read_fails = None if self.read_fails is Failing.ONCE else self.read_fails
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return state.read(position, size_bytes)

    def write(self, state: FileState, position: int, data: bytes) -> int:
        """How many bytes were written: not all, when the disk is nearly full."""
        if self.calls_left is not None:
            self._spend_call()
        if not data:
            return 0
        if self.bytes_left is not None:
            data = self._fitting(state, position, data, self.bytes_left)
        self._change(state, Write(position, data))
        return len(data)

    def truncate(self, state: FileState, size_bytes: int) -> None:
        if self.calls_left is not None:
            self._spend_call()
        self._give_back(len(state.data) - size_bytes)
        self._change(state, Truncate(size_bytes))

    def rename(self, directory: DirectoryState, names: dict[str, State | None]) -> None:
        """Change names in `directory`, with one atomic change."""
        if self.calls_left is not None:
            self._spend_call()
        if self.bytes_left is not None:
            for name in names:
                replaced = directory.names.get(name)
                if isinstance(replaced, FileState) and replaced not in names.values():
                    self._give_back(len(replaced.data))
        self._change(directory, Naming(names))

    def fsync(self, state: State) -> None:
        if self.calls_left is not None:
            self._spend_call()
        if self.fsync_fails is not None:
            self._fail_fsync(state)
        call = self._call
        if call is None:
            state.force(state.changes_count())
        else:
            call.steps.append((state, state.changes_count()))

    def _change(self, state: State, change: FileChange | Naming) -> None:
        if state.held_count:
            self.meet(state)
        state.change(change)  # type: ignore[arg-type]
        call = self._call
        if call is not None and call.steps:
            state.held_count += 1
            call.steps.append((state, CHANGE))

    def _spend_call(self) -> None:
        assert self.calls_left is not None
        if self.calls_left == 0:
            raise ProcessEnded
        self.calls_left -= 1

    def _fitting(self, state: FileState, position: int, data: bytes, bytes_left: int) -> bytes:
        """The part of `data` for which there is room. Only bytes at the end of a file take room."""
        length = len(state.data)
        growth = max(0, position + len(data) - length)
        if growth > bytes_left:
            self.no_space_count += 1
            fits = length + bytes_left - position
            if fits <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[:fits]
            growth = bytes_left
        self.bytes_left = bytes_left - growth
        return data

    def _give_back(self, freed_bytes: int) -> None:
        if self.bytes_left is not None:
            self.bytes_left += max(0, freed_bytes)

    def released(self, lock: CallLock) -> None:
        """By the code that runs now."""
        call = self._call
        if call is not None and call.steps:
            lock.held_count += 1
            call.steps.append((lock, CHANGE))

    def _fail_fsync(self, state: State) -> None:
        self.fsync_failures_count += 1
        self.fsync_fails = None if self.fsync_fails is Failing.ONCE else self.fsync_fails
        if isinstance(state, FileState):
            self._drop_dirty_pages(state)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def _drop_dirty_pages(self, state: FileState) -> None:
        """The size stays what it was. The running call has got here."""
        self.meet(state)
        if self._call is not None:
            self._call.carry_out(len(self._call.steps))
        size_bytes = state.size_bytes
        state.drop_pending()
        if size_bytes != state.size_bytes:
            self._change(state, Truncate(size_bytes))

    # The calls of the simulated storage threads.

    def begin(self) -> StorageCall:
        """The code of an EARLY call runs from here to `code_ended`."""
        assert self._call is None
        call = self._call = StorageCall()
        self._unfinished.append(call)
        return call

    def code_ended(self, call: StorageCall) -> None:
        assert self._call is call
        self._call = None

    def finish(self, call: StorageCall) -> None:
        """The process learns the result of an EARLY call: all that it did has happened."""
        self._unfinished.remove(call)
        call.carry_out(len(call.steps))

    def finish_all(self) -> None:
        """The process waits for its calls before it ends."""
        for call in list(self._unfinished):
            self.finish(call)

    def run_until_bomb(self, call: Callable[[], object], rng: random.Random) -> bool:
        """Run a LATE call whose process ends meanwhile; whether it got through before that.

        It ends at a random changing call, which has no effect. What else `call` raises is raised here.
        """
        self.calls_left = rng.randrange(rng.choice((2, 4, 8, 16, 32)))
        try:
            call()
        except ProcessEnded:
            return False
        finally:
            self.calls_left = None
        return True

    # The end of a process.

    def kill(self, rng: random.Random) -> None:
        """The process ends, the system does not: what it wrote is there, of EARLY calls a part."""
        self._end_process(rng)

    def lose_power(self, aftermath: Aftermath, rng: random.Random) -> PowerLoss:
        """What survives is then forced. STRICT: no EARLY call that is not finished has forced anything."""
        self._end_process(None if aftermath is Aftermath.STRICT else rng)
        loss = PowerLoss()
        self._reduce(self.tree, aftermath, rng, loss)
        return loss

    def _end_process(self, rng: random.Random | None) -> None:
        for call in self._unfinished:
            call.carry_out(0 if rng is None else part_of(len(call.steps), rng))
        for call in self._unfinished:
            for state, _ in call.steps:
                if not isinstance(state, CallLock):
                    state.drop_held()
        self._unfinished.clear()
        self._call = None
        self.calls_left = None
        self.close_all()

    def _reduce(
        self, directory: DirectoryState, aftermath: Aftermath, rng: random.Random, loss: PowerLoss
    ) -> None:
        names = directory.surviving(aftermath, rng)
        written = directory.names
        loss.lost_names_count += sum(
            names.get(name) is not written.get(name) for name in {**names, **written}
        )
        for name, state in sorted(names.items()):
            if isinstance(state, DirectoryState):
                self._reduce(state, aftermath, rng, loss)
            elif state.pending:
                sectors = (SMALL_SECTOR_BYTES, SECTOR_BYTES, PAGE_BYTES)
                unit_bytes = rng.choice(sectors if name.endswith(".log") else sectors[1:])
                survivor = state.surviving(aftermath, rng, unit_bytes)
                loss.lost_bytes += survivor.lost_bytes
                loss.torn_count += survivor.torn
                loss.reordered_count += survivor.reordered
                state.become(survivor)
        directory.become(names)

    def close_all(self) -> None:
        """Close the descriptors of the process that ended."""
        for descriptor in [number for number, file in self._descriptors.items() if file.disk is self]:
            del self._descriptors[descriptor]

    def open_files_count(self) -> int:
        return sum(file.disk is self for file in self._descriptors.values())

    # Copies of the whole directory. No process may use it while it is replaced.

    def save(self) -> Backup:
        """Everything that is written, forced or not."""
        return Backup.of(self.tree)

    def restore(self, backup: Backup) -> None:
        """Replace everything by an earlier copy, forced."""
        self._replace_tree(backup.tree())

    def wipe(self, keep: Iterable[str] = ()) -> None:
        """The directory is lost, all but the files named `keep` right in it."""
        tree = DirectoryState()
        for name in keep:
            if name in self.tree.names:
                tree.names[name] = self.tree.names[name]
        self._replace_tree(tree)

    def _replace_tree(self, tree: DirectoryState) -> None:
        assert not self._unfinished
        assert self.open_files_count() == 0, "a process uses the directory"
        self.tree.become(tree.names)

    # Damage that no process did.

    def flip_bit(self, rng: random.Random, kinds: Sequence[str] = KINDS) -> Damage | None:
        return disk_faults.flip_bit(self.tree, rng, kinds)

    def cut_tail(self, rng: random.Random, kinds: Sequence[str] = KINDS) -> Damage | None:
        return disk_faults.cut_tail(self.tree, rng, kinds)

    def append_garbage(self, rng: random.Random, kinds: Sequence[str] = KINDS) -> Damage | None:
        return disk_faults.append_garbage(self.tree, rng, kinds)

    def swap(self, rng: random.Random, kinds: Sequence[str] = KINDS) -> Damage | None:
        return disk_faults.swap(self.tree, rng, kinds)

    # For checks.

    def state(self, path: str | Path) -> State | None:
        """The file or directory at `path`, which is relative to the root or below it."""
        state: State = self.tree
        for part in self.root.joinpath(path).relative_to(self.root).parts:
            found = state.names.get(part) if isinstance(state, DirectoryState) else None
            if found is None:
                return None
            state = found
        return state

    def content(self, path: str | Path, *, forced: bool = False) -> bytes:
        """What the file at `path` holds; with `forced`, what it holds after any power failure."""
        state = self.state(path)
        if not isinstance(state, FileState):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return state.forced_content().content() if forced else state.content()

    def names(self) -> list[str]:
        """Of all files, relative to the root, sorted."""
        return sorted(files_in(self.tree))
