"""The tables of versions in Arrow: key, values, and from when to when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_spark.history.columns import EVENTS as EVENTS
from kraftctl_spark.history.columns import KNOWN_RANGES as KNOWN_RANGES
from kraftctl_spark.history.columns import NOT_KNOWN as NOT_KNOWN
from kraftctl_spark.history.columns import tables
from kraftctl_spark.history.versions.events import Event
from kraftctl_spark.history.versions.kinds import Kind
from kraftctl_spark.history.versions.versions import Version
from kraftctl_spark.rows.schema import arrow_type, field_type

TIME = arrow_type("time")
SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema(
        [
            pa.field(column, arrow_type(kind) if isinstance(kind, str) else field_type(kind))
            for column, kind in columns.items()
        ]
    )
    for name, columns in tables().items()
}
EVENTS_SCHEMA, KNOWN_RANGES_SCHEMA = SCHEMAS[EVENTS], SCHEMAS[KNOWN_RANGES]
OF_THE_LOG = (KNOWN_RANGES, NOT_KNOWN)
"""The tables that each commit writes as a whole: they have few rows."""


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
    return decode_versions(kind, table.filter(pc.is_null(table.column("valid_to_offset"))))


def decode_versions(kind: Kind, table: pa.Table) -> list[Version]:
    """Returns the versions of a table, as the stage has them."""
    columns = []
    for field in SCHEMAS[kind.name]:
        column = table.column(field.name)
        columns.append((column.cast(pa.int64()) if field.type == TIME else column).to_pylist())
    key, end = len(kind.key), len(kind.key) + len(kind.values)
    return [Version(_key(row[:key]), row[key:end], *row[end : end + 7]) for row in zip(*columns, strict=True)]


def _key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns a hashable key: the entity of a quota is a map."""
    return tuple(
        tuple((part["entity_type"], part["entity_name"]) for part in one) if isinstance(one, list) else one
        for one in row
    )
