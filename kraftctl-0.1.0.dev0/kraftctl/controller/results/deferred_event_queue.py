"""DeferredEventQueue: responses parked until the offset they depend on is stable."""

from __future__ import annotations

from bisect import bisect_right
from typing import Generic, TypeVar

T = TypeVar("T")


class DeferredEventQueue(Generic[T]):
    """Entries in offset order. Offsets here are inclusive: the last record an entry depends on."""

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._entries: list[T] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, offset: int, entry: T) -> None:
        """Park `entry` until `offset` is stable, behind those that wait for the same offset."""
        place = bisect_right(self._offsets, offset)
        self._offsets.insert(place, offset)
        self._entries.insert(place, entry)

    def complete_up_to(self, offset: int) -> list[T]:
        """Remove and return the entries up to `offset`, in the order of their offsets."""
        end = 0
        while end < len(self._offsets) and self._offsets[end] <= offset:
            end += 1
        return self._take(end)

    def fail_all(self) -> list[T]:
        """Remove and return all entries, because leadership is lost."""
        return self._take(len(self._offsets))

    def _take(self, end: int) -> list[T]:
        # Cut immediately: what has a response holds its request, and there are few behind it.
        taken = self._entries[:end]
        del self._offsets[:end]
        del self._entries[:end]
        return taken
