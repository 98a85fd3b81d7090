"""Picks names, ids and numbers for calls: mostly those of the cluster, now and then odd ones."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Any, TypeVar

from tests.differential.call import Ref
from tests.differential.codec import uuid_text
from tests.differential.picture import Partition, Picture
from tests.differential.schemas import ZERO_UUID

T = TypeVar("T")

TOPICS = ("a", "b", "c", "d", "e.f", "e_f", "__consumer_offsets", "__cluster_metadata", "foo", "x" * 249)
ODD_TOPICS = ("", ".", "..", "a b", "x" * 250, "ü", "a/b", "e.f", "e_f", "__share_group_state")
BROKERS = range(6)
ODD_BROKERS = (-1, -2, 3000, 3001, 99, 2**31 - 1, -(2**31))
USERS = ("alice", "bob", "carol", "ANONYMOUS")
ODD_TEXTS = ("", " ", "*", "a,b", "<default>", "x" * 300, "a=b", "ä€", "null", "\0", "User:alice", "-1")
ODD_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    127,
    -128,
    255,
    32767,
    -32768,
    2**31 - 1,
    -(2**31),
    2**63 - 1,
    -(2**63),
    10**6,
)
RACKS = (None, "r1", "r2", "")


class Chooser:
    """A seeded choice, and the picture to choose from."""

    def __init__(self, chance: random.Random, picture: Picture, versions: dict[str, tuple[int, int]]) -> None:
        self.chance = chance
        self.picture = picture
        self.versions = versions
        self.made = 0
        self.contacted: set[int] = set()
        """Brokers that have a session: their next incarnation is refused."""

        self.shut_down: set[int] = set()
        """Of these, those that asked to shut down."""

    def one(self, choices: Sequence[T]) -> T:
        return self.chance.choice(choices)

    def often(self, share: float) -> bool:
        return self.chance.random() < share

    def version(self, api: str) -> int:
        first, last = self.versions[api]
        return last if self.often(0.4) else self.chance.randint(first, last)

    def new_topic(self) -> str:
        return self.one(ODD_TOPICS) if self.often(0.1) else self.one(TOPICS)

    def topic(self) -> str:
        if self.picture.topics and self.often(0.9):
            return self.one(sorted(self.picture.topics))
        return self.new_topic()

    def topic_id(self, name: str | None = None) -> Any:
        if self.often(0.04):
            return self.one((ZERO_UUID, uuid_text(b"\0" * 15 + b"\1"), self.uuid()))
        return Ref("first topic" if self.often(0.05) else "topic", self.topic() if name is None else name)

    def broker(self) -> int:
        if self.often(0.03):
            return self.one(ODD_BROKERS)
        if self.picture.brokers and self.often(0.85):
            return self.one(sorted(self.picture.brokers))
        return self.one(BROKERS)

    def live_brokers(self) -> list[int]:
        return [each for each, broker in sorted(self.picture.brokers.items()) if not broker.fenced]

    def brokers(self, count: int | None = None) -> list[int]:
        """Brokers for a replica list, mostly live and different."""
        live = self.live_brokers()
        if live and self.often(0.93):
            wanted = count or self.chance.randint(1, min(len(live), 3))
            return self.chance.sample(live, min(wanted, len(live)))
        return [self.broker() for _ in range(self.chance.randint(0, 3))]

    def partition(self) -> tuple[str, int, Partition] | None:
        found = self.picture.partitions()
        return self.one(found) if found else None

    def partition_index(self, topic: str) -> int:
        existing = sorted(self.picture.topics.get(topic, {}))
        if existing and self.often(0.92):
            return self.one(existing)
        return self.one((0, 1, 2, -1, 99, 2**31 - 1))

    def uuid(self) -> str:
        return uuid_text(self.chance.randbytes(16))

    def directory(self, broker: int) -> str:
        """A directory of this broker, one of few."""
        return directory_id(broker, self.chance.randint(0, 2))

    def user(self) -> str:
        return self.one(ODD_TEXTS) if self.often(0.05) else self.one(USERS)

    def timeout_ms(self) -> int:
        return self.one((60000, 60000, 60000, 60000, 30000, 2**31 - 1, 1000000))

    def epoch(self, broker: int) -> Any:
        if self.often(0.03):
            return self.one((-1, 0, 2**62))
        if self.often(0.03):
            return Ref("first epoch", broker)
        return Ref("epoch", broker, 0 if self.often(0.97) else self.one((-1, 1)))

    def some(self, make: Any, most: int = 3) -> list[Any]:
        """One or more of what `make` returns; now and then none, or one twice."""
        if self.often(0.03):
            return []
        found = [make() for _ in range(1 if self.often(0.6) else self.chance.randint(1, most))]
        return [*found, found[0]] if self.often(0.03) else found


def directory_id(broker: int, index: int) -> str:
    """The same in every round, and not one of the ids that Kafka reserves."""
    return uuid_text(hashlib.sha256(f"{broker} {index}".encode()).digest()[:16])
