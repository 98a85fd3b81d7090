"""StripedReplicaPlacer: on which brokers the replicas of new partitions go (KIP-631).

1. Racks are sorted by name, brokers within a rack by id, unfenced and fenced ones apart; every list
   starts at a random offset.
2. The first replica, the leader, is the next unfenced broker, looking from the current rack on.
3. The others come round robin from the racks, starting at the current rack, skipping once the rack
   that gave the leader; within a rack fenced brokers come last.
4. The next partition starts one rack further, and every broker list one broker further.
5. After as many partitions as there are unfenced brokers everything is shuffled, lest the same
   assignments come again.

Each topic starts again with step 1.
"""

from __future__ import annotations

import random
from typing import TypeVar

from mypy_extensions import i64

T = TypeVar("T")


class UsableBroker:
    """A broker that may get replicas."""

    def __init__(self, id: int, rack: str | None, fenced: bool) -> None:
        self.id = id
        self.rack = rack
        self.fenced = fenced


def why_not_placeable(brokers: list[UsableBroker], replication_factor: int) -> str | None:
    """Returns the reason why no partition with that many replicas can be placed, or None."""
    if replication_factor <= 0:
        return f"Invalid replication factor {replication_factor}: it must be positive."
    if all(broker.fenced for broker in brokers):
        return "Each broker is fenced, or has cordoned all its log directories."
    if replication_factor > len(brokers):
        return (
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered or some brokers have all their log directories "
            "cordoned."
        )
    return None


class StripedReplicaPlacer:
    """Places partitions on `brokers`, grouped by rack once for all topics of a slice.

    Make a new one for the next slice.
    """

    def __init__(self, rng: random.Random, brokers: list[UsableBroker]) -> None:
        self.brokers = brokers
        self._rng = rng
        racks: dict[str | None, _Rack] = {}
        self._unfenced_count: i64 = 0
        for broker in brokers:
            rack = racks.get(broker.rack)
            if rack is None:
                rack = _Rack()
                racks[broker.rack] = rack
            if broker.fenced:
                rack.fenced.sorted.append(broker.id)
            else:
                rack.unfenced.sorted.append(broker.id)
                self._unfenced_count += 1
        self._sorted_racks = [racks[name] for name in sorted(racks, key=_rack_sort_key)]
        for rack in self._sorted_racks:
            rack.sort()
        self._racks = self._sorted_racks
        self._offset: i64 = 0
        self._epoch: i64 = 0

    def place(self, partition_count: int, replication_factor: int) -> list[list[int]]:
        """Returns the replicas of each partition of a topic, leader first. Ask `why_not_placeable` before."""
        assert self._unfenced_count > 0, "there is no broker to lead"
        self._start()
        return [self._place_one(replication_factor) for _ in range(partition_count)]

    def _start(self) -> None:
        self._racks = self._sorted_racks
        for rack in self._racks:
            rack.start(self._rng)
        self._offset = _below(self._rng, len(self._racks))
        self._epoch = 0

    def _place_one(self, replication_factor: i64) -> list[int]:
        if self._epoch == self._unfenced_count and self._unfenced_count > 1:
            self._shuffle()
            self._epoch = 0
        rack_count: i64 = len(self._racks)
        if self._offset == rack_count:
            self._offset = 0
        leader_rack, leader = self._next_leader()
        replicas = [leader]
        index = self._offset
        to_skip = leader_rack
        empty_count: i64 = 0
        while len(replicas) < replication_factor:
            if index == to_skip:
                to_skip = -1
            else:
                broker = self._racks[index].next(self._epoch)
                if broker >= 0:
                    replicas.append(broker)
                    empty_count = 0
                else:
                    empty_count += 1
                    assert empty_count <= rack_count, "there are fewer brokers than replicas"
            index = (index + 1) % rack_count
        self._epoch += 1
        self._offset += 1
        return replicas

    def _next_leader(self) -> tuple[i64, int]:
        rack_count: i64 = len(self._racks)
        for step in range(rack_count):
            index = (self._offset + step) % rack_count
            broker = self._racks[index].unfenced.next(self._epoch)
            if broker >= 0:
                return index, broker
        raise AssertionError("there is no broker to lead")

    def _shuffle(self) -> None:
        self._racks = list(self._racks)
        _shuffle(self._rng, self._racks)
        for rack in self._racks:
            rack.shuffle(self._rng)


def _rack_sort_key(name: str | None) -> tuple[bool, str]:
    """Returns a sort key in which brokers without rack come first."""
    return (name is not None, name or "")


class _BrokerList:
    """Gives each of its brokers once per epoch; every epoch starts one broker further."""

    def __init__(self) -> None:
        self.sorted: list[int] = []
        self._brokers = self.sorted
        self._given: i64 = 0
        self._offset: i64 = 0
        self._epoch: i64 = 0

    def start(self, rng: random.Random) -> None:
        self._brokers = self.sorted
        self._given = 0
        self._offset = _below(rng, len(self.sorted))
        self._epoch = 0

    def shuffle(self, rng: random.Random) -> None:
        if self._brokers is self.sorted:
            self._brokers = list(self.sorted)
        _shuffle(rng, self._brokers)

    def next(self, epoch: i64) -> int:
        """Returns the next broker, -1 when all have been given in this epoch."""
        count: i64 = len(self._brokers)
        if count == 0:
            return -1
        if self._epoch != epoch:
            self._epoch = epoch
            self._given = 0
            self._offset = (self._offset + 1) % count
        if self._given >= count:
            return -1
        broker = self._brokers[(self._given + self._offset) % count]
        self._given += 1
        return broker


class _Rack:
    def __init__(self) -> None:
        self.unfenced = _BrokerList()
        self.fenced = _BrokerList()

    def sort(self) -> None:
        self.fenced.sorted.sort()
        self.unfenced.sorted.sort()

    def start(self, rng: random.Random) -> None:
        self.fenced.start(rng)
        self.unfenced.start(rng)

    def shuffle(self, rng: random.Random) -> None:
        self.fenced.shuffle(rng)
        self.unfenced.shuffle(rng)

    def next(self, epoch: i64) -> int:
        broker = self.unfenced.next(epoch)
        return broker if broker >= 0 else self.fenced.next(epoch)


def _below(rng: random.Random, count: i64) -> i64:
    """Draws like `rng.randrange(count)`, without its checks; 0 without a draw for 0."""
    if count == 0:
        return 0
    bits: i64 = int(count).bit_length()
    while True:
        drawn: i64 = rng.getrandbits(int(bits))
        if drawn < count:
            return drawn


def _shuffle(rng: random.Random, items: list[T]) -> None:
    """Shuffles like `rng.shuffle(items)`: as many draws, with the same results."""
    for last in range(len(items) - 1, 0, -1):
        index = _below(rng, last + 1)
        items[last], items[index] = items[index], items[last]
