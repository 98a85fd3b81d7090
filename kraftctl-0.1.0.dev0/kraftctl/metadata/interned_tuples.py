"""Shared replica lists: a million partitions of 20 brokers name only a few thousand distinct ones."""

from __future__ import annotations

from typing import Final, cast

from mypy_extensions import i32, u8

from kraftctl.metadata.broker_directories import NOT_PACKED, BrokerDirectories
from kraftctl.metadata.shared_state import SharedState
from kraftctl_protocol.uuids import Uuid

INTERNED_TUPLES_MAX: Final = 65_536
"""Entries kept before a table starts over; a bound on memory, not on correctness."""


class InternedTuples:
    """Maps a list to the one shared tuple, and tuples to the one object that has them.

    Sharing also makes "did the ISR change?" an identity test in the common case.
    """

    def __init__(self) -> None:
        self.no_brokers: tuple[int, ...] = ()
        self.broker_directories = BrokerDirectories()
        self.usual = SharedState(
            self.broker_directories,
            removing_replicas=(),
            adding_replicas=(),
            elr=(),
            last_known_elr=(),
            leader_recovery_state=0,
            directories=None,
        )
        """The state of a partition that has nothing special."""
        self._ids: dict[object, object] = {}
        self._brokers: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._directories: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
        self._shared: dict[tuple[object, ...], SharedState] = {}

    def brokers(self, ids: list[int]) -> tuple[int, ...]:
        """Returns the shared tuple equal to `ids`."""
        if len(ids) == 0:
            return self.no_brokers
        return self._shared_brokers(tuple(ids))

    def isr(self, ids: list[int], replicas: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the same for an ISR, which is mostly all of its replicas.

        It is shared with them also when the table has no room.
        """
        key = tuple(ids)
        return replicas if key == replicas else self._shared_brokers(key)

    def _shared_brokers(self, key: tuple[int, ...]) -> tuple[int, ...]:
        shared = self._brokers.get(key)
        if shared is not None:
            return shared
        if len(self._brokers) >= INTERNED_TUPLES_MAX:
            self._brokers.clear()
        objects = cast("tuple[object, ...]", key)
        key = cast("tuple[int, ...]", tuple([self._shared_id(each) for each in objects]))
        self._brokers[key] = key
        return key

    def _shared_id(self, broker_id: object) -> object:
        """Returns the one object for a broker id, which takes 32 bytes above 256.

        Compiled code would make another object for an `int`.
        """
        if len(self._ids) >= INTERNED_TUPLES_MAX:
            self._ids.clear()
        return self._ids.setdefault(broker_id, broker_id)

    def directories(self, packed: i32, ids: list[Uuid]) -> tuple[Uuid, ...] | None:
        """Returns None if the directories are packed, otherwise the shared tuple equal to `ids`."""
        if packed != NOT_PACKED:
            return None
        key = tuple(ids)
        shared = self._directories.get(key)
        if shared is not None:
            return shared
        if len(self._directories) >= INTERNED_TUPLES_MAX:
            self._directories.clear()
        self._directories[key] = key
        return key

    def shared_state(
        self,
        *,
        removing_replicas: tuple[int, ...],
        adding_replicas: tuple[int, ...],
        elr: tuple[int, ...],
        last_known_elr: tuple[int, ...],
        leader_recovery_state: u8,
        directories: tuple[Uuid, ...] | None,
    ) -> SharedState:
        """Returns the shared object with these values."""
        if (
            directories is None
            and leader_recovery_state == 0
            and not (removing_replicas or adding_replicas or elr or last_known_elr)
        ):
            return self.usual
        recovery_state = int(leader_recovery_state)
        key: tuple[object, ...] = (
            removing_replicas,
            adding_replicas,
            elr,
            last_known_elr,
            recovery_state,
            directories,
        )
        shared = self._shared.get(key)
        if shared is None:
            if len(self._shared) >= INTERNED_TUPLES_MAX:
                self._shared.clear()
            shared = SharedState(
                self.broker_directories,
                removing_replicas=removing_replicas,
                adding_replicas=adding_replicas,
                elr=elr,
                last_known_elr=last_known_elr,
                leader_recovery_state=leader_recovery_state,
                directories=directories,
            )
            self._shared[key] = shared
        return shared
