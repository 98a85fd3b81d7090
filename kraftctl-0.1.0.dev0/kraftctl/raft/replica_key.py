"""ReplicaKey: a replica is its id *and* its log directory; a new disk is a new replica (KIP-853)."""

from __future__ import annotations

from typing import NamedTuple

from kraftctl_protocol.uuids import ZERO_UUID, uuid_to_string

NO_DIRECTORY_ID = ZERO_UUID
"""Kafka writes the zero uuid where a directory id is not known."""


class ReplicaKey(NamedTuple):
    """The key; `directory_id` is `NO_DIRECTORY_ID` while unknown (kraft.version 0, requests of old
    replicas).
    """

    id: int
    directory_id: bytes = NO_DIRECTORY_ID

    def __str__(self) -> str:
        if self.directory_id == NO_DIRECTORY_ID:
            return f"{self.id}"
        return f"{self.id}:{uuid_to_string(self.directory_id)}"


def is_same_replica(known: ReplicaKey, key: ReplicaKey) -> bool:
    """Returns whether `key` is the replica `known`. Where its directory is unknown, the id alone decides."""
    return known.id == key.id and known.directory_id in (NO_DIRECTORY_ID, key.directory_id)
