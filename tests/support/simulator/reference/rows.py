"""The state as one flat dictionary, and what each record has changed in it.

| key | value |
|--|--|
| `("topic", id)` | its name |
| `("topic id", name)` | its id |
| `("partition", topic id, index)` | Partition |
| `("broker", id)`, `("controller", id)` | Broker, Controller |
| `("registration offset", broker id)` | the offset of its RegisterBrokerRecord |
| `("config", resource type, resource name, name)` | the value |
| `("quota", entity, name)` | the value; an entity is a sorted tuple of (type, name) |
| `("producer ids",)` | where the next block begins |
| `("acl", id)` | Acl |
| `("scram", mechanism, user)` | ScramCredential |
| `("token", id)` | DelegationToken |
| `("feature", name)` | the level |
| `("features offset",)` | the offset of the newest FeatureLevelRecord |
| `("transaction",)` | where the open metadata transaction begins |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.simulator.reference.values import Broker, Partition, Uuid

Key = tuple[Any, ...]
State = dict[Key, Any]

TOPIC = 2
BROKER = 4
METADATA_VERSION = "metadata.version"
ELR_VERSION = "eligible.leader.replicas.version"


def partition_of(state: State, topic_id: Uuid, index: int) -> Partition | None:
    found: Partition | None = state.get(("partition", topic_id, index))
    return found


def broker_of(state: State, broker_id: int) -> Broker | None:
    found: Broker | None = state.get(("broker", broker_id))
    return found


def rows_of(state: State, table: str, *prefix: object) -> Iterator[tuple[Key, Any]]:
    """All rows of a table whose keys continue with `prefix`; by looking at every row."""
    start = (table, *prefix)
    for key, value in state.items():
        if key[: len(start)] == start:
            yield key, value


def brokers_of(state: State) -> dict[int, Broker]:
    return {key[1]: value for key, value in rows_of(state, "broker")}


def metadata_version_of(state: State) -> int:
    """0 before there is one."""
    level: int = state.get(("feature", METADATA_VERSION), 0)
    return level


def elr_is_enabled(state: State) -> bool:
    level: int = state.get(("feature", ELR_VERSION), 0)
    return level >= 1


class Rows:
    """`now` is the state after all records so far. The journal is never cut, but by `forget_from`.

    Offsets of states are ends (exclusive).
    """

    def __init__(self) -> None:
        self.now: State = {}
        self.offset = 0
        """Of the record that is being replayed."""
        self._journal: list[tuple[int, Key, Any]] = []
        """What each key was before, None if it was not there."""

    def put(self, key: Key, value: Any) -> None:
        old = self.now.get(key)
        if old != value:
            self._journal.append((self.offset, key, old))
            self.now[key] = value

    def remove(self, key: Key) -> None:
        """If it is there."""
        if key in self.now:
            self._journal.append((self.offset, key, self.now.pop(key)))

    def changes_since(self, offset: int) -> Iterator[tuple[Key, Any]]:
        """Keys with what they were before the record at `offset`, or later ones: the newest change first."""
        for at in range(len(self._journal) - 1, -1, -1):
            changed, key, old = self._journal[at]
            if changed < offset:
                return
            yield key, old

    def at(self, end_offset: int) -> State:
        """The state without the records from `end_offset` on, as a copy."""
        state = dict(self.now)
        for key, old in self.changes_since(end_offset):
            set_or_remove(state, key, old)
        return state

    def between(self, first_end: int, last_end: int, *keys: Key) -> Iterator[State]:
        """The states of these keys from `last_end` back to `first_end`, each once. Do not keep one."""
        wanted = set(keys)
        state = {key: self.now[key] for key in keys if key in self.now}
        newest = last_end
        for offset, key, old in reversed(self._journal):
            if offset < first_end:
                break
            if key in wanted:
                if offset < newest:
                    yield state
                    newest = offset
                set_or_remove(state, key, old)
        yield state

    def forget_from(self, end_offset: int) -> None:
        """The records from `end_offset` on were replayed for a while only."""
        while self._journal and self._journal[-1][0] >= end_offset:
            _, key, old = self._journal.pop()
            set_or_remove(self.now, key, old)


def set_or_remove(state: State, key: Key, value: Any) -> None:
    """None removes."""
    if value is None:
        state.pop(key, None)
    else:
        state[key] = value
