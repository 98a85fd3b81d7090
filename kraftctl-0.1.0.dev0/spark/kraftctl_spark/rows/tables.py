"""One typed Arrow table per record type, and `records`, which has every record with its raw value.

The table of a type is flat: the place of the record in the log, then the fields of Kafka's schema in
snake_case. Records without a table (types without fields, unknown and damaged ones) are still in `records`,
which has a row for every offset: this proves that nothing is missing.
"""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from kraftctl_spark.rows.columns import RowKinds, common_columns, typed_columns_of
from kraftctl_spark.rows.metadata_rows import UNDECODABLE_TYPE, MetadataRows
from kraftctl_spark.rows.record_names import column_name, field_name
from kraftctl_spark.rows.schema import field_type, typed_columns

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
    ("batch_offset", pa.int64()),
    ("cluster_id", pa.string()),
)
"""The columns of every table. No field of a record has one of these names."""

_SOURCES = {"log_epoch": "epoch", "record_version": "version"}
"""The columns that have another name in `format("kraft")`."""

_RECORD: tuple[tuple[str, pa.DataType], ...] = (
    ("type", pa.string()),
    ("type_id", pa.int32()),
    ("is_control", pa.bool_()),
    ("payload", pa.binary()),
)


@cache
def table_schemas() -> dict[str, pa.Schema]:
    """Returns all tables by name, `records` first."""
    place = [pa.field(name, kind) for name, kind in _PLACE]
    schemas = {RECORDS: pa.schema(place + [pa.field(name, kind) for name, kind in _RECORD])}
    for message in typed_columns():
        fields = [pa.field(field_name(field), field_type(field)) for field in message.FIELDS]
        schemas[column_name(message)] = pa.schema(place + fields)
    return schemas


def encode_tables(rows: MetadataRows, cluster_id: str) -> dict[str, pa.Table]:
    """Returns the rows as tables, in the order of `rows`; empty tables are omitted."""
    if not len(rows):
        return {}
    kinds = RowKinds(rows)
    common = common_columns(rows, kinds, cluster_id)
    place = [common[_SOURCES.get(name, name)] for name, _ in _PLACE]
    records = [column.values for column in place] + [common[name].values for name, _ in _RECORD]
    tables = {RECORDS: pa.Table.from_arrays(records, schema=table_schemas()[RECORDS])}
    for message, typed in typed_columns_of(rows, kinds).items():
        columns = [column.take(typed.places) for column in place] + typed.columns
        name = column_name(message)
        tables[name] = pa.Table.from_arrays(columns, schema=table_schemas()[name])
    return tables


class RowCounts:
    """Counts of the rows of a range, for the manifest."""

    def __init__(self) -> None:
        self.records = 0
        self.unknown = 0
        """Valid records whose type or version this release does not know."""
        self.newer_fields = 0
        """Records with tagged fields that this release does not know."""
        self.undecodable = 0
        self.redacted = 0
        self.aborted = 0

    def add(self, rows: MetadataRows) -> None:
        self.records += len(rows)
        self.newer_fields += rows.newer_fields
        self.redacted += len(rows.redacted)
        self.aborted += len(rows.aborted)
        for kind in rows.other_kinds.values():
            if kind.type == UNDECODABLE_TYPE:
                self.undecodable += 1
            elif kind.message is None:
                self.unknown += 1

    def to_dict(self) -> dict[str, int]:
        return dict(vars(self))


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Returns a table of an older release, with nulls for the columns that it did not know."""
    if table.schema.equals(schema):
        return table
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.schema.names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)
