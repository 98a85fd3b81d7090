"""The state that one record sets or removes as a whole under a key, with Kafka's names for its numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.record_types import REMOVES, RecordType
from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_spark.history.versions.brokers import by_name
from kraftctl_spark.history.versions.events import name_of
from kraftctl_spark.history.versions.quarantine import Quarantine, Quarantined
from kraftctl_spark.history.versions.versions import LogPlace, Versions
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, OPERATIONS, PATTERN_TYPES, PERMISSIONS

Handler = Callable[[tuple[Any, ...], LogPlace], None]

KRAFT_VERSION = "kraft.version"
METADATA_VERSION = "metadata.version"
FIRST_DATE_MS, LAST_DATE_MS = -62_135_596_800_000, 253_402_300_799_999
"""The years 1 to 9999: a token without expiration has a time beyond."""

NAMES: Mapping[tuple[str, str], Mapping[int, str]] = {
    ("acls", "resource_type"): ACL_RESOURCES,
    ("acls", "pattern_type"): PATTERN_TYPES,
    ("acls", "operation"): OPERATIONS,
    ("acls", "permission"): PERMISSIONS,
    ("configs", "resource_type"): CONFIG_RESOURCES,
    ("scram_credentials", "mechanism"): MECHANISM_NAMES,
}
"""The columns that have names for the numbers of the records."""

DATES = ("issue_time", "max_time", "expiration_time")
"""The columns that have a time for the milliseconds of the records; without one where that is no date."""


def handler_of(row: RecordType, versions: Versions, quarantine: Quarantine) -> Handler:
    """Returns a handler of a type whose row says everything. For features, the level says it."""
    if row.table == "features":
        return _feature(versions)
    key_size = len(row.key)
    shown = [_shown(row.table, column) for _, column in (*row.key, *row.values)]
    removes, has_flag, hides = row.effect == REMOVES, bool(row.flag), bool(row.secret)

    def handle(values: tuple[Any, ...], at: LogPlace) -> None:
        found = tuple(
            value if show is None else show(value) for show, value in zip(shown, values, strict=False)
        )
        key = found[:key_size]
        if not (removes or (has_flag and values[-1])):
            versions.set(key, found[key_size:], at, hides=hides)
        elif not versions.remove(key, at):
            quarantine.add(Quarantined(row.table, name_of(versions.kind, key), at))

    return handle


def _feature(versions: Versions) -> Handler:
    """Sets a feature. Level 0 removes it, except metadata.version. kraft.version is the quorum's."""

    def handle(values: tuple[Any, ...], at: LogPlace) -> None:
        name, level = values
        if name == KRAFT_VERSION:
            return
        if level > 0 or name == METADATA_VERSION:
            versions.set((name,), (level,), at)
        else:
            versions.remove((name,), at)

    return handle


def _shown(table: str, column: str) -> Callable[[Any], Any] | None:
    """Returns the shown value of a column; None for the record's value itself."""
    names = NAMES.get((table, column))
    if names is not None:
        return lambda number: names.get(number, str(number))  # Only a newer Kafka has a name for it.
    if column in DATES:
        return _date_us
    return {"entity": entity_key, "end_points": by_name, "features": by_name}.get(column)


class Quorum:
    """The state of the quorum from control records. Each method is for one type."""

    def __init__(self, quorum: Versions) -> None:
        self._quorum = quorum

    def leader(self, row: tuple[Any, ...], at: LogPlace) -> None:
        leader_id, epoch, voters = row
        self._set(at, leader_id=leader_id, leader_epoch=epoch, voters=_voter_ids(voters))

    def voters(self, row: tuple[Any, ...], at: LogPlace) -> None:
        self._set(at, voters=_voter_ids(row[0]))

    def kraft_version(self, row: tuple[Any, ...], at: LogPlace) -> None:
        self._set(at, kraft_version=row[0])

    def _set(self, at: LogPlace, **changes: Any) -> None:
        """Sets the leader, which a snapshot does not contain: it is null until the next one."""
        names = self._quorum.kind.values
        old = self._quorum.values(()) or (None,) * len(names)
        new = tuple(changes.get(name, value) for name, value in zip(names, old, strict=True))
        self._quorum.set((), new, at)


def entity_key(entity: list[dict[str, Any]]) -> tuple[tuple[str, str | None], ...]:
    """Returns a key, which is a map from the type to the name in Kafka; null is the default entity."""
    return tuple(sorted((part["entity_type"], part["entity_name"]) for part in entity))


def _voter_ids(voters: list[dict[str, Any]]) -> list[int]:
    return sorted(voter["voter_id"] for voter in voters)


def _date_us(time_ms: int) -> int | None:
    return time_ms * 1000 if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else None
