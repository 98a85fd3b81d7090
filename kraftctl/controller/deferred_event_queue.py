"""DeferredEventQueue: responses parked until the offset they depend on is stable."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class DeferredEventQueue(Generic[T]):
    """Entries in offset order. Offsets here are inclusive: the last record an entry depends on."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._entries: list[T] = []

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def highest_pending_offset(self) -> int | None:
        """The offset that a read must wait for, because it may have seen that record; None without one."""
        return self._offsets[-1] if self._offsets else None

    def add(self, offset: int, entry: T) -> None:
        """Park `entry` until `offset` is stable."""
        pending = self.highest_pending_offset
        assert pending is None or offset >= pending, f"offset {offset} is before {pending}"
        self._offsets.append(offset)
        self._entries.append(entry)

    def complete_up_to(self, offset: int) -> list[T]:
        """Remove and return the entries up to `offset`, in the order they were added."""
        end = 0
        while end < len(self._offsets) and self._offsets[end] <= offset:
            end += 1
        return self._take(end)

    def fail_all(self) -> list[T]:
        """Remove and return all entries, because leadership is lost."""
        return self._take(len(self._offsets))

    def _take(self, end: int) -> list[T]:
        # Cut immediately: what has an answer holds its request, and there are few behind it.
        taken = self._entries[:end]
        del self._offsets[:end]
        del self._entries[:end]
        return taken
