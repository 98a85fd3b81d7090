"""The keys that clients use: few, so that operations meet, and new ones when a history is long enough."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

KEYS_PER_KIND = 2

OPERATIONS_MAX = {
    "topic": 60,
    "config": 40,
    "acl": 60,
    "partition": 80,
    "reassignment": 60,
    "producer-ids": 1_000_000,
}
"""Of one key. Producer ids are one sequence, so it has one key for the whole run."""


@dataclass(eq=False)
class Key:
    """One object. `numbers` gives each written value once."""

    kind: str
    name: str
    left: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_prepared: bool = False
    topic_id: str = ""
    """Of a partition."""
    epoch: int = 0
    """The last partition epoch in a response."""


class Keys:
    """Thread-safe."""

    def __init__(self, kinds: Sequence[str]) -> None:
        self.kinds = list(kinds)
        self._lock = threading.Lock()
        self._number = 0
        self._current: dict[str, list[Key]] = {
            kind: [self._new(kind) for _ in range(1 if kind == "producer-ids" else KEYS_PER_KIND)]
            for kind in kinds
        }

    def take(self, kind: str, rng: random.Random) -> Key:
        """One of the present keys, for one operation."""
        with self._lock:
            keys = self._current[kind]
            place = rng.randrange(len(keys))
            keys[place].left -= 1
            if keys[place].left < 0:
                keys[place] = self._new(kind)
            return keys[place]

    def one(self, kind: str, rng: random.Random) -> Key:
        """One of the present keys, for a read that is not counted."""
        with self._lock:
            return rng.choice(self._current[kind])

    def retire(self, key: Key) -> None:
        """No client uses it any more."""
        with self._lock:
            key.left = 0

    def number(self) -> int:
        """One that was not given before."""
        with self._lock:
            self._number += 1
            return self._number

    def _new(self, kind: str) -> Key:
        self._number += 1
        return Key(kind, f"{kind}-{self._number}", OPERATIONS_MAX[kind])
