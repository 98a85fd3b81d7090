"""Decoded messages as Arrow columns: one pass per field over all messages, never a row at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.uuids import uuid_to_string
from kraftctl_spark.rows.decoded_columns import decoded_columns
from kraftctl_spark.rows.metadata_rows import MetadataRows, RecordKind, field_name
from kraftctl_spark.rows.schema import field_type, typed_columns

FIRST_DATE_MS = -62_135_596_800_000
LAST_DATE_MS = 253_402_300_799_999


def common_columns(rows: MetadataRows, cluster_id: str) -> dict[str, pa.Array]:
    """The columns that every row has, by their names in the wide table."""
    count = len(rows)
    of_snapshot = rows.snapshot_end_offset is not None
    places = pa.array(rows.offsets, pa.int64())
    kinds = list(rows.by_kind())
    numbers = {kind: number for number, kind in enumerate(kinds)}
    kind_of_row = pa.array([numbers[kind] for kind in rows.kinds], pa.int32())

    def of_kind(values: list[object], type: pa.DataType) -> pa.Array:
        return pa.array(values, type).take(kind_of_row)

    return {
        "offset": pa.nulls(count, pa.int64()) if of_snapshot else places,
        "batch_offset": pa.nulls(count, pa.int64())
        if of_snapshot
        else pa.array(rows.batch_offsets, pa.int64()),
        "epoch": pa.array(rows.epochs, pa.int32()),
        "timestamp": _microseconds(rows.timestamps_ms),
        "type": of_kind([kind.type for kind in kinds], pa.string()),
        "type_id": of_kind([kind.type_id for kind in kinds], pa.int32()),
        "version": of_kind([kind.version for kind in kinds], pa.int32()),
        "is_control": of_kind([kind.is_control for kind in kinds], pa.bool_()),
        "payload": pa.array(rows.payloads, pa.binary()),
        "snapshot_end_offset": pa.repeat(pa.scalar(rows.snapshot_end_offset, pa.int64()), count),
        "snapshot_index": places if of_snapshot else pa.nulls(count, pa.int64()),
        "aborted": _flags(rows.aborted, count),
        "redacted": _flags(rows.redacted, count),
        "cluster_id": pa.repeat(pa.scalar(cluster_id, pa.string()), count),
    }


def _flags(places: Collection[int], count: int) -> pa.Array:
    if not places:
        return pa.repeat(False, count)
    return pa.array([place in places for place in range(count)], pa.bool_())


def _microseconds(timestamps_ms: list[int]) -> pa.Array:
    """Null for what is no date: Spark and Python know none beyond the year 9999."""
    known: Sequence[int | None] = timestamps_ms
    if min(timestamps_ms, default=0) < FIRST_DATE_MS or max(timestamps_ms, default=0) > LAST_DATE_MS:
        known = [time if FIRST_DATE_MS <= time <= LAST_DATE_MS else None for time in timestamps_ms]
    times = pc.multiply_checked(pa.array(known, pa.int64()), 1000)
    return times.cast(pa.timestamp("us", tz="UTC"))


class TypedColumns:
    """The rows of one record type: their places among all rows, and a column per field."""

    def __init__(self, places: pa.Array, columns: list[pa.Array]) -> None:
        self.places = places
        self.columns = columns


def typed_columns_of(rows: MetadataRows) -> dict[type[Message], TypedColumns]:
    """The columns of every record type that has fields and a row, in the order of the tables."""
    by_class: dict[type[Message], list[RecordKind]] = {}
    for kind in rows.by_kind():
        if kind.message is not None:
            by_class.setdefault(kind.message, []).append(kind)
    return {message: _merged(rows, by_class[message]) for message in typed_columns() if message in by_class}


def _merged(rows: MetadataRows, kinds: list[RecordKind]) -> TypedColumns:
    """Merges the columns of all versions of one type, in the order of the rows."""
    parts = [_of_kind(rows, kind) for kind in kinds]
    if len(parts) == 1:
        return parts[0]
    places = pa.concat_arrays([part.places for part in parts])
    order = pc.array_sort_indices(places)
    columns = [
        pa.concat_arrays(list(column)).take(order)
        for column in zip(*(part.columns for part in parts), strict=True)
    ]
    return TypedColumns(places.take(order), columns)


def _of_kind(rows: MetadataRows, kind: RecordKind) -> TypedColumns:
    assert kind.message is not None
    assert kind.version is not None
    places = rows.by_kind()[kind]
    if kind.in_columns:
        return TypedColumns(pa.array(places, pa.int32()), decoded_columns(rows.columns, kind))
    messages = [rows.messages[place] for place in places]
    return TypedColumns(pa.array(places, pa.int32()), field_columns(kind.message, messages, kind.version))


def field_columns(message: type[Message], messages: Sequence[Any], version: int) -> list[pa.Array]:
    """A column per field of `message`, null where `version` lacks it."""
    return [_field_column(field, messages, version) for field in message.FIELDS]


def _field_column(field: Field, messages: Sequence[Any], version: int) -> pa.Array:
    if not field.in_version(version):
        return pa.nulls(len(messages), field_type(field))
    return _column(field, list(map(attrgetter(field.name), messages)), version)


def _column(field: Field, values: list[Any], version: int) -> pa.Array:
    if field.struct is None:
        if field.type == "uuid":
            values = list(map(uuid_to_string, values))
        elif field.type == "[]uuid":
            values = [value and list(map(uuid_to_string, value)) for value in values]
        return pa.array(values, field_type(field))
    if not field.type.startswith("[]"):
        return _structs(field.struct, values, version)
    elements = [element for value in values if value is not None for element in value]
    return pa.ListArray.from_arrays(
        _list_offsets(values), _structs(field.struct, elements, version), type=field_type(field)
    )


def _list_offsets(lists: list[list[Any] | None]) -> pa.Array:
    """Where each list starts, then where the last one ends; null at the place of a null list."""
    offsets: list[int | None] = []
    end = 0
    for elements in lists:
        offsets.append(None if elements is None else end)
        end += 0 if elements is None else len(elements)
    return pa.array([*offsets, end], pa.int32())


def _structs(message: type[Message], values: list[Any], version: int) -> pa.Array:
    """A null struct is encoded from a message with defaults: Arrow needs values there."""
    absent = [value is None for value in values]
    if any(absent):
        values = [message() if value is None else value for value in values]
    columns = field_columns(message, values, version)
    fields = [pa.field(field_name(field), field_type(field)) for field in message.FIELDS]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=pa.array(absent, pa.bool_()))
