"""TurnQueue: what waits for turns, first the address that has used least time; of equals, the longest."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Final, Generic, TypeVar

ADDRESSES_MAX: Final = 1_000
"""The number of addresses whose time is remembered."""

T = TypeVar("T")


class AddressTimes:
    """The time that each address has used while others waited: one account, and one order, for all queues."""

    def __init__(self) -> None:
        self._used_ns: dict[bytes, int] = {}
        self._fair_ns = 0
        """An address that comes begins with this: what one that waits all the time has had. It grows with
        each turn, or those that come once and never again would be first for ever."""
        self._turn_address = b""
        self._turn_ns = 0
        """The address of the last turn, and its time: it comes again before it is charged."""
        self._number = 0

    def of(self, address: bytes) -> int:
        """Returns the time of an address that has one, or comes now."""
        began_ns = self._turn_ns if address == self._turn_address else self._fair_ns
        return max(began_ns, self._used_ns.get(address, 0))

    def used(self, address: bytes) -> int:
        """Returns the time that is remembered."""
        return self._used_ns.get(address, 0)

    def next_number(self) -> int:
        """Returns the number of one that comes, in the order of coming."""
        self._number += 1
        return self._number

    def reach(self, address: bytes, used_ns: int) -> None:
        """Notes that an address with this time has a turn."""
        self._turn_address, self._turn_ns = address, used_ns
        self._fair_ns = max(self._fair_ns, used_ns)

    def charge(self, address: bytes, duration_ns: int, waiting: int) -> None:
        """Adds to the time of an address, and to that of those that come what is the part of one of those
        that are `waiting`."""
        used_ns = self.of(address) + duration_ns
        self._used_ns.pop(address, None)  # the one that was charged longest ago is forgotten first
        self._used_ns[address] = used_ns
        if len(self._used_ns) > ADDRESSES_MAX:
            del self._used_ns[next(iter(self._used_ns))]
        self._fair_ns += max(duration_ns // min(waiting, ADDRESSES_MAX), 1)

    def clear(self) -> None:
        """Forgets all: where none waits, none has to be first."""
        self._used_ns.clear()
        self._fair_ns = self._turn_ns = 0


class TurnQueue(Generic[T]):
    """Keeps the order of each address; one with many entries does not delay those of the others."""

    def __init__(self, times: AddressTimes) -> None:
        self._times = times
        self._waiting: dict[bytes, deque[T]] = {}
        self._order: list[tuple[int, int, bytes]] = []
        """For each address: its time, or less, the order of coming, and the address."""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __len__(self) -> int:
        """Returns the number of addresses."""
        return len(self._waiting)

    def add(self, address: bytes, item: T) -> None:
        """Puts `item` behind the others of its address."""
        items = self._waiting.get(address)
        if items is None:
            self._waiting[address] = deque((item,))
            self._enter(address, self._times.of(address))
        else:
            items.append(item)

    def first(self) -> tuple[int, int]:
        """Returns the time and the number of the address whose turn it is; the queue is not empty."""
        while True:
            entered_ns, number, address = self._order[0]
            used_ns = self._times.used(address)
            if entered_ns >= used_ns:
                return entered_ns, number
            heapq.heappop(self._order)  # it was charged since it has come
            self._enter(address, used_ns)

    def take(self) -> tuple[bytes, T]:
        """Removes and returns the item whose turn it is, with its address; the queue is not empty."""
        used_ns, _ = self.first()
        address = heapq.heappop(self._order)[2]
        self._times.reach(address, used_ns)
        items = self._waiting[address]
        item = items.popleft()
        if items:
            self._enter(address, used_ns)
        else:
            del self._waiting[address]
        return address, item

    def clear(self) -> None:
        """Drops everything that waits."""
        self._waiting.clear()
        self._order.clear()

    def _enter(self, address: bytes, used_ns: int) -> None:
        heapq.heappush(self._order, (used_ns, self._times.next_number(), address))
