"""A storage call whose code has run and whose time has not passed yet."""

from __future__ import annotations

import threading
from typing import Protocol

from kraftctl.storage.metadata_partition import MetadataPartition
from tests.support.file_states import State

CHANGE = -1


class StorageCall:
    """What the code of an EARLY call did from its first fsync on, in order, and has not happened yet.

    A step is an fsync of a file or directory, with the number of changes that it covers; or a CHANGE of one,
    or the release of a lock.
    """

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps: list[tuple[State | CallLock, int]] = []

    def carry_out(self, steps_count: int) -> None:
        """The first steps happen."""
        for state, step in self.steps[:steps_count]:
            if step == CHANGE:
                state.held_count -= 1
            elif not isinstance(state, CallLock):
                state.force(step)
        del self.steps[:steps_count]

    def last_change_of(self, wanted: State | CallLock) -> int:
        """Its number, from 1 on; 0 when there is none."""
        return max((at for at, step in enumerate(self.steps, 1) if step == (wanted, CHANGE)), default=0)


class LockedDisk(Protocol):
    def meet(self, state: CallLock) -> None:
        """Other code takes the lock."""
        ...

    def released(self, lock: CallLock) -> None:
        """The code that runs now has released it."""
        ...


class CallLock:
    """A lock of a simulated process. What it guards in memory was changed by those who had it before."""

    __slots__ = ("_disk", "_taken", "held_count")

    def __init__(self, disk: LockedDisk) -> None:
        self._disk = disk
        self._taken = False
        self.held_count = 0
        """How often it was released by calls that may not have got there yet."""

    def __enter__(self) -> CallLock:
        assert not self._taken, "a call that waits for itself"
        self._taken = True
        if self.held_count:
            self._disk.meet(self)
        return self

    def __exit__(self, *error: object) -> None:
        self._taken = False
        self._disk.released(self)


def watch_locks(partition: MetadataPartition, disk: LockedDisk) -> None:
    """Replace the locks of a partition that was just opened.

    Otherwise a flush could report as durable what an unfinished call of another thread is still forcing.
    """
    lock_type = type(threading.Lock())
    for owner in (partition, partition.log, partition.snapshots, partition.recovery_point):
        # Of a compiled class `vars` knows nothing.
        for name in list(getattr(owner, "__mypyc_attrs__", None) or vars(owner)):
            if isinstance(getattr(owner, name), lock_type):
                setattr(owner, name, CallLock(disk))
