"""What one record sets or removes as a whole under a key, with Kafka's names instead of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_spark.history.versions.brokers import by_name
from kraftctl_spark.history.versions.versions import Moment, Versions
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, OPERATIONS, PATTERN_TYPES, PERMISSIONS

KRAFT_VERSION = "kraft.version"
METADATA_VERSION = "metadata.version"
FIRST_DATE_MS, LAST_DATE_MS = -62_135_596_800_000, 253_402_300_799_999
"""Years 1 to 9999: a token without expiration has a time beyond."""


class Keyed:
    """Each method is for one record type."""

    def __init__(self, versions: Mapping[str, Versions]) -> None:
        self._versions = versions

    def controller(self, row: tuple[Any, ...], at: Moment) -> None:
        controller_id, incarnation_id, migration_ready, end_points, features = row
        values = (incarnation_id, migration_ready, by_name(end_points), by_name(features))
        self._versions["controllers"].set((controller_id,), values, at)

    def feature(self, row: tuple[Any, ...], at: Moment) -> None:
        """Level 0 removes a feature, except metadata.version. kraft.version is the quorum's."""
        name, level = row
        if name == KRAFT_VERSION:
            return
        if level > 0 or name == METADATA_VERSION:
            self._versions["features"].set((name,), (level,), at)
        else:
            self._versions["features"].remove((name,), at)

    def quota(self, row: tuple[Any, ...], at: Moment) -> None:
        entity, key, value, remove = row
        if remove:
            self._versions["quotas"].remove((entity_key(entity), key), at)
        else:
            self._versions["quotas"].set((entity_key(entity), key), (value,), at)

    def acl(self, row: tuple[Any, ...], at: Moment) -> None:
        acl_id, resource_type, resource_name, pattern_type, principal, host, operation, permission = row
        values = (
            _named(ACL_RESOURCES, resource_type),
            resource_name,
            _named(PATTERN_TYPES, pattern_type),
            principal,
            host,
            _named(OPERATIONS, operation),
            _named(PERMISSIONS, permission),
        )
        self._versions["acls"].set((acl_id,), values, at)

    def remove_acl(self, row: tuple[Any, ...], at: Moment) -> None:
        self._versions["acls"].remove(row, at)

    def scram_credential(self, row: tuple[Any, ...], at: Moment) -> None:
        """Without salt and keys: a new password with the same iterations is no new version."""
        user, mechanism, iterations = row
        key = (user, _named(MECHANISM_NAMES, mechanism))
        self._versions["scram_credentials"].set(key, (iterations,), at)

    def remove_scram_credential(self, row: tuple[Any, ...], at: Moment) -> None:
        user, mechanism = row
        self._versions["scram_credentials"].remove((user, _named(MECHANISM_NAMES, mechanism)), at)

    def token(self, row: tuple[Any, ...], at: Moment) -> None:
        token_id, owner, requester, renewers, *times_ms = row
        values = (owner, requester, renewers, *(_date_us(one) for one in times_ms))
        self._versions["delegation_tokens"].set((token_id,), values, at)

    def remove_token(self, row: tuple[Any, ...], at: Moment) -> None:
        self._versions["delegation_tokens"].remove(row, at)

    def producer_ids(self, row: tuple[Any, ...], at: Moment) -> None:
        self._versions["producer_ids"].set((), row, at)

    def leader(self, row: tuple[Any, ...], at: Moment) -> None:
        leader_id, epoch, voters = row
        self._quorum(at, leader_id=leader_id, leader_epoch=epoch, voters=_voter_ids(voters))

    def voters(self, row: tuple[Any, ...], at: Moment) -> None:
        self._quorum(at, voters=_voter_ids(row[0]))

    def kraft_version(self, row: tuple[Any, ...], at: Moment) -> None:
        self._quorum(at, kraft_version=row[0])

    def _quorum(self, at: Moment, **changes: Any) -> None:
        """A snapshot does not contain the leader: it is null until the next one."""
        quorum = self._versions["quorum"]
        old = quorum.values(()) or (None,) * len(quorum.kind.values)
        names = quorum.kind.values
        quorum.set((), tuple(changes.get(name, value) for name, value in zip(names, old, strict=True)), at)


def entity_key(entity: list[dict[str, Any]]) -> tuple[tuple[str, str | None], ...]:
    """Kafka keeps a map from the type to the name; null is the default entity."""
    return tuple(sorted((part["entity_type"], part["entity_name"]) for part in entity))


def _voter_ids(voters: list[dict[str, Any]]) -> list[int]:
    return sorted(voter["voter_id"] for voter in voters)


def _named(names: Mapping[int, str], number: int) -> str:
    """The number itself where only a newer Kafka has a name for it."""
    return names.get(number, str(number))


def _date_us(time_ms: int) -> int | None:
    return time_ms * 1000 if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else None
