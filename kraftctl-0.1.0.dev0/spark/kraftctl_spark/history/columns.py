"""The columns of the history's tables, with types as Kafka's schemas name them, and `time`.

This needs no Arrow: the questions are written in builds, which have none.
"""

from __future__ import annotations

from kraftctl_protocol.message import Field
from kraftctl_spark.history.versions.keyed import DATES, NAMES
from kraftctl_spark.history.versions.kinds import KINDS, Kind
from kraftctl_spark.rows.record_names import field_name

EVENTS = "events"
KNOWN_RANGES = "known_ranges"
NOT_KNOWN = "not_known"

VALIDITY: dict[str, str | Field] = {
    "valid_from_offset": "int64",
    "valid_from_time": "time",
    "from_snapshot": "bool",
    "batch_offset": "int64",
    "valid_to_offset": "int64",
    "valid_to_time": "time",
    "ended_by": "string",
    "cluster_id": "string",
}
"""The columns of every table of versions, after its key and its values."""

_QUORUM = {"leader_id": "int32", "leader_epoch": "int32", "voters": "[]int32", "kraft_version": "int32"}

_OTHERS = {
    EVENTS: {
        "offset": "int64",
        "time": "time",
        "batch_offset": "int64",
        "kind": "string",
        "subject": "string",
        "before": "string",
        "after": "string",
        "history_table": "string",
        "topic_id": "string",
        "partition_id": "int32",
        "broker_id": "int32",
        "cluster_id": "string",
    },
    KNOWN_RANGES: {
        "start_offset": "int64",
        "start_time": "time",
        "from_snapshot": "bool",
        "end_offset": "int64",
        "end_time": "time",
        "cluster_id": "string",
    },
    NOT_KNOWN: {
        "start_offset": "int64",
        "start_time": "time",
        "end_offset": "int64",
        "end_time": "time",
        "reason": "string",
        "subject": "string",
        "history_table": "string",
        "topic_id": "string",
        "partition_id": "int32",
        "broker_id": "int32",
        "records": "int64",
        "cluster_id": "string",
    },
}


def tables() -> dict[str, dict[str, str | Field]]:
    """Returns the type of each column of each table; a field of a record is its own type."""
    versions = {
        kind.name: {name: _type(kind, name) for name in (*kind.key, *kind.values)} | VALIDITY
        for kind in KINDS
    }
    return versions | {name: dict(columns) for name, columns in _OTHERS.items()}


def _type(kind: Kind, column: str) -> str | Field:
    """Returns the type, that of the record's field but for names, dates and computed texts."""
    if kind.set_by is None:
        return _QUORUM[column]
    if column in DATES:
        return "time"
    sources = {to: field for field, to in (*kind.set_by.key, *kind.set_by.values)}
    if not sources[column] or (kind.name, column) in NAMES:
        return "string"
    fields = {field_name(field): field for field in kind.set_by.message.FIELDS}
    return fields[sources[column]]
