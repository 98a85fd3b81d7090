"""What all connections together may hold of one kind of bytes, and who loses when they hold more.

A connection pays rent: its bytes times the seconds for which it has held them. The one with the highest rent
loses, so an honest client, which holds for milliseconds, is not closed in place of one that never finishes.
An address that holds little is spared as long as others hold more: many connections from one address do not
push out those of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final, Generic, Protocol, TypeVar

SPARED_SHARE: Final = 8
"""An address that holds at most the eighth part of a budget loses nothing while another one holds more."""

ROOM_SHARE: Final = 8
"""The eighth part of the budget is made free at a time: to find who loses takes a look at everybody."""

READ_SHARE: Final = 16
"""A client that reads the sixteenth part of its response at a time reads; the system's buffers take less."""

RENT_SECONDS_MIN: Final = 0.001
"""If two have just begun, the larger one loses."""


class Holder(Protocol):
    """A connection, as a budget sees it."""

    @property
    def peer_host(self) -> str:
        """Returns the address of its client."""
        ...


H = TypeVar("H", bound=Holder)


class ByteBudget(Generic[H]):
    """Limits a sum; `losers` are to be closed, and then hold nothing."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.held_bytes = 0
        self._held: dict[H, tuple[int, float]] = {}
        self._by_address: Counter[str] = Counter()

    def hold(self, holder: H, size_bytes: int, now: float, *, renewed: bool = False) -> None:
        """`holder` holds `size_bytes` now, in place of what it held; `renewed`: nothing of that is left."""
        held_bytes, since = self._held.get(holder, (0, now))
        if size_bytes == held_bytes == 0:
            return
        self.held_bytes += size_bytes - held_bytes
        self._by_address[holder.peer_host] += size_bytes - held_bytes
        if size_bytes > 0:
            self._held[holder] = (size_bytes, now if renewed else since)
        elif held_bytes > 0:
            del self._held[holder]
            if self._by_address[holder.peer_host] == 0:
                del self._by_address[holder.peer_host]

    def note_left(self, holder: H, left_bytes: int, now: float) -> None:
        """Notes what is left of the bytes of `holder`. What becomes less is held since now."""
        held_bytes = self.held_by(holder)
        if left_bytes <= held_bytes - held_bytes // READ_SHARE:
            self.hold(holder, left_bytes, now, renewed=True)

    def holders(self) -> list[H]:
        """Those that hold something."""
        return list(self._held)

    def held_by(self, holder: H) -> int:
        """Returns the bytes that this holder has."""
        return self._held[holder][0] if holder in self._held else 0

    @property
    def addresses_count(self) -> int:
        """Returns how many addresses are known: no more than hold something."""
        return len(self._by_address)

    def has_room(self, size_bytes: int) -> bool:
        """Whether so much more can be held."""
        return self.held_bytes + size_bytes <= self.bytes_max

    def losers(self, now: float, last: Collection[H] = ()) -> list[H]:
        """Those that have to be closed so that the rest is within the budget, the highest rent first.

        Holders in `last` are closed when no others are left.
        """
        if self.held_bytes <= self.bytes_max:
            return []
        ranked = sorted(self._held, key=lambda holder: self._rent(holder, now), reverse=True)
        left = dict(self._by_address)
        left_bytes = self.held_bytes
        room_bytes = self.bytes_max - self.bytes_max // ROOM_SHARE
        losers: list[H] = []
        spared: list[H] = []
        protected = [holder for holder in ranked if holder in last]
        for holder in ranked:
            if left_bytes <= room_bytes:
                break
            if holder in last:
                continue
            if left[holder.peer_host] <= self.bytes_max // SPARED_SHARE:
                spared.append(holder)
                continue
            losers.append(holder)
            left[holder.peer_host] -= self._held[holder][0]
            left_bytes -= self._held[holder][0]
        for holder in (*spared, *protected):
            if left_bytes <= self.bytes_max:
                break
            losers.append(holder)
            left_bytes -= self._held[holder][0]
        return losers

    def _rent(self, holder: H, now: float) -> float:
        held_bytes, since = self._held[holder]
        return held_bytes * max(now - since, RENT_SECONDS_MIN)
