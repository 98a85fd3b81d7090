"""One typed Arrow table per record type, and `records`, which has every record with its raw value.

A table of a type is a flat one: where the record stood in the log, then the fields of Kafka's schema in
snake_case. What has no table (types without fields, unknown ones, damaged ones) still is in `records`: a
row there for every offset is the proof that nothing is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pyarrow as pa

from kraftctl_spark.rows import UNDECODABLE_TYPE, MetadataRow, column_name, field_name
from kraftctl_spark.schema import field_type, typed_columns

RECORDS = "records"

_PLACE: tuple[tuple[str, pa.DataType], ...] = (
    ("offset", pa.int64()),
    ("log_epoch", pa.int32()),
    ("timestamp", pa.timestamp("us", tz="UTC")),
    ("record_version", pa.int32()),
    ("aborted", pa.bool_()),
    ("redacted", pa.bool_()),
    ("snapshot_end_offset", pa.int64()),
    ("snapshot_index", pa.int64()),
)
"""Columns of every table. No field of a record has one of these names."""

_RECORD: tuple[tuple[str, pa.DataType], ...] = (
    ("type", pa.string()),
    ("type_id", pa.int32()),
    ("is_control", pa.bool_()),
    ("payload", pa.binary()),
)


@cache
def table_schemas() -> dict[str, pa.Schema]:
    """All tables by name, `records` first."""
    place = [pa.field(name, kind) for name, kind in _PLACE]
    schemas = {RECORDS: pa.schema(place + [pa.field(name, kind) for name, kind in _RECORD])}
    for message in typed_columns():
        fields = [pa.field(field_name(field), field_type(field)) for field in message.FIELDS]
        schemas[column_name(message)] = pa.schema(place + fields)
    return schemas


def encode_tables(rows: Sequence[MetadataRow]) -> dict[str, pa.Table]:
    """The rows as tables, without those that would be empty; in each one the order of `rows`."""
    by_table: dict[str, list[MetadataRow]] = {}
    for row in rows:
        if row.column is not None:
            by_table.setdefault(row.column, []).append(row)
    tables: dict[str, pa.Table] = {}
    if rows:
        tables[RECORDS] = _table(RECORDS, rows, _record_columns(rows))
    for name, members in sorted(by_table.items()):
        tables[name] = _table(name, members, _typed_columns(name, members))
    return tables


class RowCounts:
    """What the manifest says about the rows of a range."""

    def __init__(self) -> None:
        self.records = 0
        self.unknown = 0
        """Sound records whose type or version this release does not know."""
        self.undecodable = 0
        self.redacted = 0
        self.aborted = 0

    def add(self, row: MetadataRow) -> None:
        self.records += 1
        self.redacted += row.redacted
        self.aborted += row.aborted
        if row.type == UNDECODABLE_TYPE:
            self.undecodable += 1
        elif not row.understood:
            self.unknown += 1

    def to_dict(self) -> dict[str, int]:
        return dict(vars(self))


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table that an older release wrote, with nulls for the columns it did not know."""
    if table.schema.equals(schema):
        return table
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.schema.names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _table(name: str, rows: Sequence[MetadataRow], rest: list[pa.Array]) -> pa.Table:
    return pa.Table.from_arrays(_place_columns(rows) + rest, schema=table_schemas()[name])


def _place_columns(rows: Sequence[MetadataRow]) -> list[pa.Array]:
    columns: list[list[object]] = [
        [row.offset for row in rows],
        [row.epoch for row in rows],
        [row.timestamp_ms * 1000 for row in rows],
        [row.version for row in rows],
        [row.aborted for row in rows],
        [row.redacted for row in rows],
        [row.snapshot_end_offset for row in rows],
        [row.snapshot_index for row in rows],
    ]
    return [pa.array(values, type=kind) for values, (_, kind) in zip(columns, _PLACE, strict=True)]


def _record_columns(rows: Sequence[MetadataRow]) -> list[pa.Array]:
    columns: list[list[object]] = [
        [row.type for row in rows],
        [row.type_id for row in rows],
        [row.is_control for row in rows],
        [row.payload for row in rows],
    ]
    return [pa.array(values, type=kind) for values, (_, kind) in zip(columns, _RECORD, strict=True)]


def _typed_columns(name: str, rows: Sequence[MetadataRow]) -> list[pa.Array]:
    values = [row.value or {} for row in rows]
    fields = list(table_schemas()[name])[len(_PLACE) :]
    return [pa.array([value.get(field.name) for value in values], type=field.type) for field in fields]
