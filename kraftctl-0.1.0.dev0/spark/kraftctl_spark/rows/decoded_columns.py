"""Arrow arrays from the buffers that records were decoded into, without copying single values."""

from __future__ import annotations

import pyarrow as pa

from kraftctl_protocol.record_columns import Column, RecordsByKind, kind_of
from kraftctl_spark.rows.metadata_rows import RecordKind
from kraftctl_spark.rows.schema import field_type


def decoded_columns(records: RecordsByKind, kind: RecordKind) -> list[pa.Array]:
    """Returns a column per field of the records of a kind, in their order."""
    assert kind.message is not None
    assert kind.type_id is not None
    assert kind.version is not None
    decoded = records.by_kind[kind_of(kind.type_id, kind.version)]
    assert decoded is not None
    decoded.fill_up()
    arrays = [
        pa.nulls(decoded.count, field_type(field)) if column is None else array_of(column, field_type(field))
        for field, column in zip(kind.message.FIELDS, decoded.columns, strict=True)
    ]
    if not decoded.dropped:
        return arrays
    dropped = set(decoded.dropped)
    sound = pa.array([row for row in range(decoded.count) if row not in dropped], pa.int32())
    return [array.take(sound) for array in arrays]


def array_of(column: Column, kind: pa.DataType) -> pa.Array:
    """Returns all values of a column."""
    count = int(column.count)
    data = pa.py_buffer(column.data.getvalue())
    if pa.types.is_boolean(kind):
        return bits(data, count)
    valid = None
    if column.valid is not None:
        valid = bits(pa.py_buffer(column.valid.getvalue()), count).buffers()[1]
    if column.ends is None:
        return pa.Array.from_buffers(kind, count, [valid, data])
    ends = pa.py_buffer(_FIRST_OFFSET + column.ends.getvalue())
    if column.items is None:
        return pa.Array.from_buffers(kind, count, [valid, ends, data])
    items = array_of(column.items, kind.value_type)
    return pa.Array.from_buffers(kind, count, [valid, ends], children=[items])


_FIRST_OFFSET = bytes(4)


def bits(data: pa.Buffer, count: int) -> pa.Array:
    """Converts one byte per value into Arrow's bits."""
    return pa.Array.from_buffers(pa.uint8(), count, [None, data]).cast(pa.bool_())
