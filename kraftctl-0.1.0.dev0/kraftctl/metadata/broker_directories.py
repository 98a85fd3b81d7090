"""KIP-858: the log directories of a partition in one integer: for each replica, the number of its directory.

The partitions of a large cluster share few lists of directories: on 100 brokers that are named in any order,
almost every partition would have its own, of 64 bytes.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i32, i64

from kraftctl_protocol.uuids import Uuid

NOT_PACKED: Final = -1
"""The directories are not packed in the integer: a tuple has them."""

REPLICAS_MAX: Final = 4
"""This many numbers of 7 bits fit an i32 that is not negative."""

NUMBER_BITS: Final = 7
NUMBER_MASK: Final = 0x7F

DIRECTORIES_MAX: Final = 128
"""A broker has numbers for this many directories over time; further ones are not packed."""

BROKERS_MAX: Final = 65_536
"""The limit bounds memory. Further brokers have no numbered directories."""


class BrokerDirectories:
    """Numbers the directories of each broker as they are named. A number keeps its meaning."""

    def __init__(self) -> None:
        self._directories: dict[int, list[Uuid]] = {}

    def pack(self, replicas: tuple[int, ...], directories: list[Uuid]) -> i32:
        """Returns the numbers of the directories of the replicas, in their order; or NOT_PACKED."""
        if len(replicas) > REPLICAS_MAX:
            return NOT_PACKED
        packed: i32 = 0
        shift: i32 = 0
        for index, replica in enumerate(replicas):
            number = self._number(replica, directories[index])
            if number < 0:
                return NOT_PACKED
            packed |= number << shift
            shift += NUMBER_BITS
        return packed

    def unpack(self, replicas: tuple[int, ...], packed: i32) -> tuple[Uuid, ...]:
        """Returns the directories of the replicas with which they were packed."""
        directories: list[Uuid] = []
        for replica in replicas:
            number = i64(packed & NUMBER_MASK)
            directories.append(self._directories[replica][number])
            packed >>= NUMBER_BITS
        return tuple(directories)

    def directory(self, replica: int, position: i32, packed: i32) -> Uuid:
        """Returns the directory of the replica at `position` of those with which it was packed."""
        number = i64((packed >> (position * NUMBER_BITS)) & NUMBER_MASK)
        return self._directories[replica][number]

    def _number(self, broker_id: int, directory: Uuid) -> i32:
        known = self._directories.get(broker_id)
        if known is None:
            if len(self._directories) >= BROKERS_MAX:
                return NOT_PACKED
            known = []
            self._directories[broker_id] = known
        number: i32 = 0
        for candidate in known:
            if candidate == directory:
                return number
            number += 1
        if number >= DIRECTORIES_MAX:
            return NOT_PACKED
        known.append(directory)
        return number
