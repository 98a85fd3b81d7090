"""What happened, in order and in words: one event for each thing that a record changed.

Those of partitions are made as columns, in `partition_events`.

An event has a kind, its subject, and what was so before and after. A snapshot does not say what happened: it
is one event, whatever it begins.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kraftctl_spark.history.versions.kinds import BROKERS
from kraftctl_spark.history.versions.versions import Change, Key, Moment, Values

GAP_BEGINS, SNAPSHOT = "gap begins", "snapshot"


class Event(NamedTuple):
    """In the order of the columns, which also have the cluster."""

    offset: int
    time_us: int | None
    batch_offset: int | None
    kind: str
    subject: str
    before: str | None
    after: str | None
    history_table: str
    """The table with the versions that it ended and began."""
    topic_id: str | None = None
    partition_id: int | None = None
    broker_id: int | None = None


Found = tuple[str, Any, Any]
"""Kind, and the values before and after."""


def events_of(changes: Iterable[Change]) -> Iterator[Event]:
    """Of each change, in the same order; none for epochs alone, and for what a snapshot begins."""
    for table, key, old, new, at in changes:
        if at.in_snapshot:
            continue
        offset, time_us, _, batch_offset = at
        subject, ids = _SUBJECTS[table](key, old or new or ())
        for kind, before, after in _FOUND[table](key, old, new):
            was, now = _text(before), _text(after)
            yield Event(offset, time_us, batch_offset, kind, subject, was, now, table, *ids)


def gap(offset: int, time_us: int | None) -> Event:
    """The log is not known from here on."""
    return Event(offset, time_us, None, GAP_BEGINS, "log", None, None, "known_ranges")


def snapshot(at: Moment, after: str) -> Event:
    """The log is known again."""
    return Event(at.offset, at.time_us, at.batch_offset, SNAPSHOT, "log", None, after, "known_ranges")


def _text(value: Any) -> str | None:
    kind = type(value)
    if kind is list and value and type(value[0]) is not int:
        return json.dumps(value)
    return value if value is None or kind is str else str(value)


_B = BROKERS.values.index

_STATES = {
    "fenced": "broker fenced",
    "unfenced": "broker unfenced",
    "controlled shutdown": "broker shuts down",
}
_BROKER_FIELDS = [
    (_B("rack"), "rack changed"),
    (_B("log_dirs"), "log dirs changed"),
    (_B("cordoned_log_dirs"), "cordoned log dirs changed"),
    (_B("end_points"), "endpoints changed"),
    (_B("features"), "supported features changed"),
]
_BROKER_EPOCH, _STATE = _B("broker_epoch"), _B("state")


def _broker(key: Key, old: Values | None, new: Values | None) -> Iterator[Found]:
    if old is None or new is None:
        kind = "broker registered" if old is None else "broker unregistered"
        yield kind, old and old[_STATE], new and new[_STATE]
        return
    if old[_BROKER_EPOCH] != new[_BROKER_EPOCH]:
        yield "broker registered again", old[_BROKER_EPOCH], new[_BROKER_EPOCH]
    if old[_STATE] != new[_STATE]:
        yield _STATES[new[_STATE]], old[_STATE], new[_STATE]
    for place, kind in _BROKER_FIELDS:
        if old[place] != new[place]:
            yield kind, old[place], new[place]


def _quorum(key: Key, old: Values | None, new: Values | None) -> Iterator[Found]:
    names = ("quorum leader elected", "quorum epoch raised", "voters changed", "kraft.version changed")
    before, after = old or (None,) * len(names), new or (None,) * len(names)
    for kind, one, other in zip(names, before, after, strict=True):
        if one != other and not (kind == names[1] and before[0] != after[0]):
            yield kind, one, other


def _as_whole(
    name: str, began: str, ended: str, shown: Callable[[Values], Any]
) -> Callable[[Key, Values | None, Values | None], Iterable[Found]]:
    """For what one record sets and one removes."""
    begins, ends, changes = (f"{name} {what}" for what in (began, ended, "changed"))

    def found(key: Key, old: Values | None, new: Values | None) -> Iterable[Found]:
        before = None if old is None else shown(old)
        after = None if new is None else shown(new)
        return ((begins if before is None else ends if after is None else changes, before, after),)

    return found


def _acl(values: Values) -> str:
    resource_type, resource_name, pattern_type, principal, host, operation, permission = values
    resource = f"{resource_type} {pattern_type} {resource_name}"
    return f"{permission} {operation} on {resource} for {principal} from {host}"


def _token(values: Values) -> str:
    return f"owner {values[0]}, requester {values[1]}, renewers {', '.join(values[2] or ()) or 'none'}"


_FOUND: dict[str, Callable[[Key, Values | None, Values | None], Iterable[Found]]] = {
    "topics": _as_whole("topic", "created", "deleted", lambda values: values[0]),
    "brokers": _broker,
    "controllers": _as_whole("controller", "registered", "removed", lambda values: values[0]),
    "configs": _as_whole("config", "set", "removed", lambda values: values[1]),
    "acls": _as_whole("ACL", "added", "removed", _acl),
    "quotas": _as_whole("quota", "set", "removed", lambda values: values[0]),
    "features": _as_whole("feature", "set", "removed", lambda values: values[0]),
    "scram_credentials": _as_whole("SCRAM credential", "added", "removed", lambda values: values[0]),
    "delegation_tokens": _as_whole("delegation token", "created", "removed", _token),
    "producer_ids": _as_whole("producer ids", "allocated", "removed", lambda values: values[0]),
    "quorum": _quorum,
}

Ids = tuple[str | None, int | None, int | None]
_NO_IDS: Ids = (None, None, None)


def _entity(entity: tuple[tuple[str, str | None], ...]) -> str:
    return " ".join(f"{kind}={'<default>' if name is None else name}" for kind, name in entity)


_SUBJECTS: dict[str, Callable[[Key, Values], tuple[str, Ids]]] = {
    "topics": lambda key, values: (values[0], (key[0], None, None)),
    "brokers": lambda key, values: (f"broker {key[0]}", (None, None, key[0])),
    "controllers": lambda key, values: (f"controller {key[0]}", _NO_IDS),
    "configs": lambda key, values: (" ".join(part for part in key if part), (values[0], None, None)),
    "acls": lambda key, values: (values[3], _NO_IDS),
    "quotas": lambda key, values: (f"{_entity(key[0])} {key[1]}", _NO_IDS),
    "features": lambda key, values: (key[0], _NO_IDS),
    "scram_credentials": lambda key, values: (f"{key[0]} {key[1]}", _NO_IDS),
    "delegation_tokens": lambda key, values: (f"token {key[0]}", _NO_IDS),
    "producer_ids": lambda key, values: ("producer ids", _NO_IDS),
    "quorum": lambda key, values: ("quorum", _NO_IDS),
}
"""Its name for people, and the ids by which it is joined."""
