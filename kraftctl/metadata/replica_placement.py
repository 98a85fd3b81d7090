"""StripedReplicaPlacer: on which brokers the replicas of new partitions go (KIP-631).

1. Racks are sorted by name, brokers within a rack by id, unfenced and fenced ones apart; every list
   starts at a random offset.
2. The first replica, the leader, is the next unfenced broker, looking from the current rack on.
3. The others come round robin from the racks, starting at the current rack, skipping once the rack
   that gave the leader; within a rack fenced brokers come last.
4. The next partition starts one rack further, and every broker list one broker further.
5. After as many partitions as there are unfenced brokers everything is shuffled, lest the same
   assignments come again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable


class UsableBroker:
    """A broker that may get replicas."""

    def __init__(self, id: int, rack: str | None, fenced: bool) -> None:
        self.id = id
        self.rack = rack
        self.fenced = fenced


def why_not_placeable(brokers: list[UsableBroker], replication_factor: int) -> str | None:
    """The reason why no partition with so many replicas can be placed, or None."""
    if replication_factor <= 0:
        return f"Invalid replication factor {replication_factor}: it must be positive."
    if all(broker.fenced for broker in brokers):
        return "All brokers are currently fenced, or have all their log directories cordoned."
    if replication_factor > len(brokers):
        return (
            f"The target replication factor of {replication_factor} cannot be reached because only "
            f"{len(brokers)} broker(s) are registered or some brokers have all their log directories "
            "cordoned."
        )
    return None


class StripedReplicaPlacer:
    """Places partitions of one request; make a new one for the next."""

    def __init__(self, rng: random.Random, brokers: Iterable[UsableBroker]) -> None:
        self._rng = rng
        self._racks: dict[str | None, _Rack] = {}
        self._unfenced_count = 0
        for broker in brokers:
            rack = self._racks.get(broker.rack)
            if rack is None:
                rack = _Rack()
                self._racks[broker.rack] = rack
            if broker.fenced:
                rack.fenced.brokers.append(broker.id)
            else:
                rack.unfenced.brokers.append(broker.id)
                self._unfenced_count += 1
        self._rack_names: list[str | None] = sorted(self._racks, key=_rack_sort_key)
        for name in self._rack_names:
            self._racks[name].start(rng)
        self._offset = rng.randrange(len(self._rack_names)) if self._rack_names else 0
        self._epoch = 0

    def place(self, partition_count: int, replication_factor: int) -> list[list[int]]:
        """Replicas per partition, leader first. `why_not_placeable` was asked before."""
        assert self._unfenced_count > 0, "there is no broker to lead"
        return [self._place_one(replication_factor) for _ in range(partition_count)]

    def _place_one(self, replication_factor: int) -> list[int]:
        if self._epoch == self._unfenced_count and self._unfenced_count > 1:
            self._shuffle()
            self._epoch = 0
        rack_count = len(self._rack_names)
        if self._offset == rack_count:
            self._offset = 0
        leader_rack, leader = self._next_leader()
        replicas = [leader]
        index = self._offset
        to_skip = leader_rack
        empty_count = 0
        while len(replicas) < replication_factor:
            if index == to_skip:
                to_skip = -1
            else:
                broker = self._racks[self._rack_names[index]].next(self._epoch)
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

    def _next_leader(self) -> tuple[int, int]:
        rack_count = len(self._rack_names)
        for step in range(rack_count):
            index = (self._offset + step) % rack_count
            broker = self._racks[self._rack_names[index]].unfenced.next(self._epoch)
            if broker >= 0:
                return index, broker
        raise AssertionError("there is no broker to lead")

    def _shuffle(self) -> None:
        self._rng.shuffle(self._rack_names)
        for name in self._rack_names:
            self._racks[name].shuffle(self._rng)


def _rack_sort_key(name: str | None) -> tuple[bool, str]:
    """Brokers without rack come first."""
    return (name is not None, name or "")


class _BrokerList:
    """Gives each of its brokers once per epoch; every epoch starts one broker further."""

    def __init__(self) -> None:
        self.brokers: list[int] = []
        self._given = 0
        self._offset = 0
        self._epoch = 0

    def start(self, rng: random.Random) -> None:
        if self.brokers:
            self.brokers.sort()
            self._offset = rng.randrange(len(self.brokers))

    def next(self, epoch: int) -> int:
        """-1 when all have been given in this epoch."""
        count = len(self.brokers)
        if count == 0:
            return -1
        if self._epoch != epoch:
            self._epoch = epoch
            self._given = 0
            self._offset = (self._offset + 1) % count
        if self._given >= count:
            return -1
        broker = self.brokers[(self._given + self._offset) % count]
        self._given += 1
        return broker


class _Rack:
    def __init__(self) -> None:
        self.unfenced = _BrokerList()
        self.fenced = _BrokerList()

    def start(self, rng: random.Random) -> None:
        self.fenced.start(rng)
        self.unfenced.start(rng)

    def shuffle(self, rng: random.Random) -> None:
        rng.shuffle(self.fenced.brokers)
        rng.shuffle(self.unfenced.brokers)

    def next(self, epoch: int) -> int:
        broker = self.unfenced.next(epoch)
        return broker if broker >= 0 else self.fenced.next(epoch)
