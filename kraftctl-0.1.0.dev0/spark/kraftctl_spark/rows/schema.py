"""The exported table: common columns, then one struct column per record type, derived from Kafka's schemas.

The columns do not depend on the metadata.version of the cluster: a struct has the fields of all versions that
this release knows, null where a record's version lacks them. Everything is nullable, as in every Parquet file
that Spark writes.
"""

from __future__ import annotations

import pyarrow as pa

from kraftctl_protocol.message import Field, Message
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES
from kraftctl_spark.rows.record_names import column_name, field_name

COMMON_FIELDS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("offset", pa.int64(), "Offset in the metadata log; null for rows of a snapshot."),
    ("epoch", pa.int32(), "Epoch of the leader that wrote the record's batch."),
    ("timestamp", pa.timestamp("us", tz="UTC"), "When the leader appended it."),
    ("type", pa.string(), "Kafka's name of the record, or Unknown, or Undecodable."),
    (
        "type_id",
        pa.int32(),
        "Number of the record type: the apiKey of a data record, or a control record's type.",
    ),
    ("version", pa.int32(), "Version the record is written in."),
    ("is_control", pa.bool_(), "Whether it belongs to the raft layer."),
    ("payload", pa.binary(), "The raw value in the log."),
    ("snapshot_end_offset", pa.int64(), "For rows of a snapshot: the first offset that it does not contain."),
    ("snapshot_index", pa.int64(), "For rows of a snapshot: position in it."),
    ("cluster_id", pa.string(), "The cluster that the log belongs to."),
)

_PRIMITIVES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int8": pa.int32(),
    "int16": pa.int32(),
    "uint16": pa.int32(),
    "int32": pa.int32(),
    "uint32": pa.int64(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "uuid": pa.string(),
    "bytes": pa.binary(),
    "records": pa.binary(),
    "time": pa.timestamp("us", tz="UTC"),
}
"""The types of values by their names in Kafka's schemas, which have none for a time."""


def arrow_schema() -> pa.Schema:
    """Returns the schema of the record batches that the source returns to Spark."""
    fields = [pa.field(name, kind) for name, kind, _ in COMMON_FIELDS]
    fields += [pa.field(column_name(message), _struct_type(message)) for message in typed_columns()]
    return pa.schema(fields)


def typed_columns() -> list[type[Message]]:
    """Returns the record types with a struct column. Parquet has no empty structs: NoOpRecord is only a
    `type`.
    """
    return [message for message in TYPED_CLASSES if message.FIELDS]


def _struct_type(message: type[Message]) -> pa.DataType:
    return pa.struct([pa.field(field_name(field), field_type(field)) for field in message.FIELDS])


def field_type(field: Field) -> pa.DataType:
    """Returns how a field of Kafka's schemas is stored."""
    return arrow_type(field.type, field.struct)


def arrow_type(name: str, struct: type[Message] | None = None) -> pa.DataType:
    """Returns how values of a type are stored, by its name in Kafka's schemas: `int32`, `[]int32`."""
    kind = _PRIMITIVES[name.removeprefix("[]")] if struct is None else _struct_type(struct)
    return pa.list_(pa.field("element", kind)) if name.startswith("[]") else kind
