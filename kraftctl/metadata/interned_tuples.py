"""Shared replica lists: a million partitions name only a few thousand distinct broker combinations."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.uuids import Uuid

INTERNED_TUPLES_MAX: Final = 65_536
"""Entries kept before the table starts over; a bound on memory, not on correctness."""


class InternedTuples:
    """Maps a list to the one shared tuple.

    Sharing also makes "did the ISR change?" an identity test in the common case.
    """

    def __init__(self) -> None:
        self.no_brokers: tuple[int, ...] = ()
        self._brokers: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._directories: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}

    def brokers(self, ids: list[int]) -> tuple[int, ...]:
        """The shared tuple equal to `ids`."""
        if len(ids) == 0:
            return self.no_brokers
        key = tuple(ids)
        shared = self._brokers.get(key)
        if shared is not None:
            return shared
        if len(self._brokers) >= INTERNED_TUPLES_MAX:
            self._brokers.clear()
        self._brokers[key] = key
        return key

    def directories(self, ids: list[Uuid]) -> tuple[Uuid, ...]:
        """The shared tuple equal to `ids`."""
        key = tuple(ids)
        shared = self._directories.get(key)
        if shared is not None:
            return shared
        if len(self._directories) >= INTERNED_TUPLES_MAX:
            self._directories.clear()
        self._directories[key] = key
        return key
