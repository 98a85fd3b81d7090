"""The tables of versions in Arrow: key, values, and from when to when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.versions.events import Event
from kraftctl_spark.history.versions.keyed import DATES, NAMES
from kraftctl_spark.history.versions.kinds import KINDS, Kind
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.rows.metadata_rows import column_name
from kraftctl_spark.rows.tables import table_schemas

TIME = pa.timestamp("us", tz="UTC")
_QUORUM: dict[str, pa.DataType] = {
    "leader_id": pa.int32(),
    "leader_epoch": pa.int32(),
    "voters": pa.list_(pa.field("element", pa.int32())),
    "kraft_version": pa.int32(),
}

_VALIDITY = [
    pa.field("valid_from_offset", pa.int64()),
    pa.field("valid_from_time", TIME),
    pa.field("from_snapshot", pa.bool_()),
    pa.field("batch_offset", pa.int64()),
    pa.field("valid_to_offset", pa.int64()),
    pa.field("valid_to_time", TIME),
    pa.field("ended_by", pa.string()),
    pa.field("cluster_id", pa.string()),
]

KNOWN_RANGES = "known_ranges"
KNOWN_RANGES_SCHEMA = pa.schema(
    [
        pa.field("start_offset", pa.int64()),
        pa.field("start_time", TIME),
        pa.field("from_snapshot", pa.bool_()),
        pa.field("end_offset", pa.int64()),
        pa.field("end_time", TIME),
        pa.field("cluster_id", pa.string()),
    ]
)

EVENTS = "events"
EVENTS_SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64()),
        pa.field("time", TIME),
        pa.field("batch_offset", pa.int64()),
        pa.field("kind", pa.string()),
        pa.field("subject", pa.string()),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
        pa.field("history_table", pa.string()),
        pa.field("topic_id", pa.string()),
        pa.field("partition_id", pa.int32()),
        pa.field("broker_id", pa.int32()),
        pa.field("cluster_id", pa.string()),
    ]
)


def _type(kind: Kind, column: str) -> pa.DataType:
    """Returns the type, that of the typed tables but for names, dates and computed texts."""
    if kind.set_by is None:
        return _QUORUM[column]
    if column in DATES:
        return TIME
    fields = {to: field for field, to in (*kind.set_by.key, *kind.set_by.values)}
    if not fields[column] or (kind.name, column) in NAMES:
        return pa.string()
    return table_schemas()[column_name(kind.set_by.message)].field(fields[column]).type


def schema_of(kind: Kind) -> pa.Schema:
    fields = [pa.field(name, _type(kind, name)) for name in (*kind.key, *kind.values)]
    return pa.schema(fields + _VALIDITY)


SCHEMAS: dict[str, pa.Schema] = {
    **{kind.name: schema_of(kind) for kind in KINDS},
    EVENTS: EVENTS_SCHEMA,
    KNOWN_RANGES: KNOWN_RANGES_SCHEMA,
}


def encode_versions(kind: Kind, versions: Sequence[Version], cluster_id: str) -> pa.Table:
    if not versions:
        return SCHEMAS[kind.name].empty_table()
    key, values, *validity = zip(*versions, strict=True)
    columns = [*zip(*key, strict=True), *zip(*values, strict=True), *validity]
    return _encode(SCHEMAS[kind.name], columns, cluster_id)


def encode_events(found: Sequence[Event], cluster_id: str) -> pa.Table:
    if not found:
        return EVENTS_SCHEMA.empty_table()
    return _encode(EVENTS_SCHEMA, list(zip(*found, strict=True)), cluster_id)


def _encode(schema: pa.Schema, columns: Sequence[Sequence[Any]], cluster_id: str) -> pa.Table:
    """Encodes rows of the same cluster; `columns` are all others."""
    arrays = [pa.array(column, field.type) for column, field in zip(columns, list(schema)[:-1], strict=True)]
    arrays.append(pa.repeat(pa.scalar(cluster_id, pa.string()), len(arrays[0])))
    return pa.Table.from_arrays(arrays, schema=schema)


def encode_rows(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def decode_open(kind: Kind, table: pa.Table) -> list[Version]:
    """Returns the versions of a table that are still open, as the stage has them."""
    still_open = table.filter(pc.is_null(table.column("valid_to_offset")))
    columns = []
    for field in SCHEMAS[kind.name]:
        column = still_open.column(field.name)
        columns.append((column.cast(pa.int64()) if field.type == TIME else column).to_pylist())
    key, end = len(kind.key), len(kind.key) + len(kind.values)
    return [Version(_key(row[:key]), row[key:end], *row[end : end + 4]) for row in zip(*columns, strict=True)]


def _key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns a hashable key: the entity of a quota is a map."""
    return tuple(
        tuple((part["entity_type"], part["entity_name"]) for part in one) if isinstance(one, list) else one
        for one in row
    )
