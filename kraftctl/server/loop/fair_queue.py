"""FairQueue: what waits for one resource, where the addresses of clients take turns."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Keeps the order of each address; one with many entries does not delay those of the others."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, deque[T]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, address: bytes, item: T) -> None:
        """Puts `item` behind the others of its address."""
        self._waiting.setdefault(address, deque()).append(item)

    def take(self) -> T:
        """Removes and returns the item whose turn it is; the queue is not empty."""
        address = next(iter(self._waiting))
        items = self._waiting.pop(address)
        item = items.popleft()
        if items:
            self._waiting[address] = items  # behind the other addresses
        return item

    def clear(self) -> None:
        """Drops everything that waits."""
        self._waiting.clear()
