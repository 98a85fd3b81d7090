"""Limits unfinished SSL handshakes and SASL authentications: each holds memory, and needs no key."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

UNFINISHED_MAX: Final = 1_000
"""The limit, at 20 to 210 KB each. Brokers and admins that all connect again are fewer."""

H = TypeVar("H")


class UnfinishedHandshakes(Generic[H]):
    """The handshakes of all listeners. Beyond the limit, the oldest of the address with the most has to
    leave.
    """

    def __init__(self) -> None:
        self._by_address: dict[str, dict[H, None]] = {}
        self._count = 0

    def add(self, address: str, handshake: H) -> H | None:
        """Returns the one that has to leave, if one has to; it is not removed."""
        self._by_address.setdefault(address, {})[handshake] = None
        self._count += 1
        if self._count <= UNFINISHED_MAX:
            return None
        crowded = max(self._by_address, key=lambda each: len(self._by_address[each]))
        return next(iter(self._by_address[crowded]))

    def remove(self, address: str, handshake: H) -> None:
        """Removes one that is finished, or whose connection closed. Further calls have no effect."""
        of_address = self._by_address.get(address, {})
        if handshake in of_address:
            del of_address[handshake]
            self._count -= 1
            if not of_address:
                del self._by_address[address]
