"""TurnQueue: what waits for the time of turns, the address first that has used least of it."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Final, Generic, TypeVar

ADDRESSES_MAX: Final = 1_000
"""The number of addresses whose time is remembered."""

T = TypeVar("T")


class AddressTimes:
    """The time that each address has used while others waited: one account for all queues."""

    def __init__(self) -> None:
        self._used_ns: dict[bytes, int] = {}
        self._first_ns = 0
        """The time of the address that had the last turn; one that comes begins with it."""

    def of(self, address: bytes) -> int:
        """Returns the time of an address that has one, or comes now."""
        return max(self._first_ns, self._used_ns.get(address, 0))

    def used(self, address: bytes) -> int:
        """Returns the time that is remembered."""
        return self._used_ns.get(address, 0)

    def reach(self, used_ns: int) -> None:
        """Notes that an address with this time has a turn."""
        self._first_ns = max(self._first_ns, used_ns)

    def charge(self, address: bytes, duration_ns: int) -> None:
        """Adds to the time of an address."""
        used_ns = self.of(address) + duration_ns
        self._used_ns.pop(address, None)  # the one that was charged longest ago is forgotten first
        self._used_ns[address] = used_ns
        if len(self._used_ns) > ADDRESSES_MAX:
            del self._used_ns[next(iter(self._used_ns))]

    def clear(self) -> None:
        """Forgets all: where none waits, none has to be first."""
        self._used_ns.clear()
        self._first_ns = 0


class TurnQueue(Generic[T]):
    """Keeps the order of each address; one with many entries does not delay those of the others."""

    def __init__(self, times: AddressTimes) -> None:
        self._times = times
        self._waiting: dict[bytes, deque[T]] = {}
        self._order: list[tuple[int, int, bytes]] = []
        """For each address: its time, or less, the order of coming, and the address."""
        self._number = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, address: bytes, item: T) -> None:
        """Puts `item` behind the others of its address."""
        items = self._waiting.get(address)
        if items is None:
            self._waiting[address] = deque((item,))
            self._enter(address)
        else:
            items.append(item)

    def first_ns(self) -> int:
        """Returns the time of the address whose turn it is; the queue is not empty."""
        while True:
            used_ns, _, address = self._order[0]
            if used_ns >= self._times.used(address):
                return used_ns
            heapq.heappop(self._order)  # it was charged since it has come
            self._enter(address)

    def take(self) -> tuple[bytes, T]:
        """Removes and returns the item whose turn it is, with its address; the queue is not empty."""
        self._times.reach(self.first_ns())
        address = heapq.heappop(self._order)[2]
        items = self._waiting[address]
        item = items.popleft()
        if items:
            self._enter(address)
        else:
            del self._waiting[address]
        return address, item

    def clear(self) -> None:
        """Drops everything that waits."""
        self._waiting.clear()
        self._order.clear()

    def _enter(self, address: bytes) -> None:
        self._number += 1
        heapq.heappush(self._order, (self._times.of(address), self._number, address))
