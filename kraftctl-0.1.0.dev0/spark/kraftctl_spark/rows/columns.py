"""Decoded messages as Arrow columns: one pass per field over all messages, never a row at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.uuids import uuid_to_string
from kraftctl_spark.rows.decoded_columns import array_of, bits, decoded_columns
from kraftctl_spark.rows.metadata_rows import MetadataRows, RecordKind, column_kind
from kraftctl_spark.rows.record_names import field_name
from kraftctl_spark.rows.row_runs import RowRuns
from kraftctl_spark.rows.schema import field_type, typed_columns

FIRST_DATE_MS = -62_135_596_800_000
LAST_DATE_MS = 253_402_300_799_999


class RowKinds:
    """The kinds of all rows, as Arrow finds them."""

    def __init__(self, rows: MetadataRows) -> None:
        numbers = memoryview(bytearray(rows.columns.kinds.getvalue())).cast("i")
        others: dict[RecordKind, int] = {}
        for place, kind in rows.other_kinds.items():
            numbers[place] = others.setdefault(kind, -1 - len(others))
        by_number = {number: kind for kind, number in others.items()}
        buffer = pa.py_buffer(numbers)
        encoded = pa.Array.from_buffers(pa.int32(), len(rows), [None, buffer]).dictionary_encode()
        self.kinds = [by_number.get(one) or column_kind(one) for one in encoded.dictionary.to_pylist()]
        """The distinct kinds, each once."""
        self.of_rows: pa.Array = encoded.indices
        """The place of each row's kind in `kinds`."""

    def column(self, values: list[object], type: pa.DataType) -> pa.Array:
        """Returns a column of a property that all rows of a kind share, given for each of `kinds`."""
        return pa.array(values, type).take(self.of_rows)

    def places(self) -> dict[RecordKind, pa.Array]:
        """Returns the places of all rows of a kind, in order."""
        in_order = pc.array_sort_indices(self.of_rows)
        places: dict[RecordKind, pa.Array] = {}
        first = 0
        counts = pc.value_counts(self.of_rows)
        for number, count in zip(
            counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True
        ):
            places[self.kinds[number]] = in_order.slice(first, count)
            first += count
        return places


def common_columns(rows: MetadataRows, kinds: RowKinds, cluster_id: str) -> dict[str, CommonColumn]:
    """Returns the columns that every row has, by their names in `format("kraft")`."""
    runs, count, types = rows.runs, len(rows), kinds.kinds
    of_snapshot = rows.snapshot_end_offset is not None
    nulls = _one_value(None, pa.int64(), count)
    places = _offsets(runs)
    return {
        "offset": nulls if of_snapshot else places,
        "batch_offset": nulls if of_snapshot else _of_runs(runs, runs.batch_offsets, pa.int64()),
        "epoch": _of_runs(runs, runs.epochs, pa.int32()),
        "timestamp": _of_runs(runs, _microseconds(runs.timestamps_ms), pa.timestamp("us", tz="UTC")),
        "type": CommonColumn(kinds.column([kind.type for kind in types], pa.string())),
        "type_id": CommonColumn(kinds.column([kind.type_id for kind in types], pa.int32())),
        "version": CommonColumn(kinds.column([kind.version for kind in types], pa.int32())),
        "is_control": CommonColumn(kinds.column([kind.is_control for kind in types], pa.bool_())),
        "payload": CommonColumn(_payloads(rows)),
        "snapshot_end_offset": _one_value(rows.snapshot_end_offset, pa.int64(), count),
        "snapshot_index": places if of_snapshot else nulls,
        "aborted": _flags(rows.aborted, count),
        "redacted": _flags(rows.redacted, count),
        "cluster_id": _one_value(cluster_id, pa.string(), count),
    }


class CommonColumn:
    """A column of all rows."""

    def __init__(self, values: pa.Array, *, one_value: bool = False) -> None:
        self.values = values
        self._one_value = one_value

    def take(self, places: pa.Array) -> pa.Array:
        """Returns the values at some places."""
        return self.values.slice(0, len(places)) if self._one_value else self.values.take(places)


def _one_value(value: object, type: pa.DataType, count: int) -> CommonColumn:
    return CommonColumn(pa.repeat(pa.scalar(value, type), count), one_value=True)


def _of_runs(runs: RowRuns, values: Sequence[int | None], type: pa.DataType) -> CommonColumn:
    """Returns a column with the same value in all rows of a run."""
    if len(set(values)) == 1:
        return _one_value(values[0], type, runs.rows)
    encoded = pa.RunEndEncodedArray.from_arrays(pa.array(runs.ends, pa.int32()), pa.array(values, type))
    return CommonColumn(pc.run_end_decode(encoded))


def _offsets(runs: RowRuns) -> CommonColumn:
    """Returns the offsets, which rise by 1 from row to row, except where records are missing."""
    before_places = [offset - runs.start(run) for run, offset in enumerate(runs.first_offsets)]
    if len(set(before_places)) == 1:
        return CommonColumn(pa.arange(before_places[0], before_places[0] + runs.rows))
    shifts = _of_runs(runs, before_places, pa.int64()).values
    return CommonColumn(pc.add_checked(shifts, pa.arange(0, runs.rows)))


def _flags(places: Collection[int], count: int) -> CommonColumn:
    """Returns a column that is true at some places."""
    if not places:
        return _one_value(False, pa.bool_(), count)
    flags = bytearray(count)
    for place in places:
        flags[place] = 1
    return CommonColumn(bits(pa.py_buffer(flags), count))


def _payloads(rows: MetadataRows) -> pa.Array:
    """Returns the raw values, without secrets."""
    values = array_of(rows.columns.values, pa.binary())
    if not rows.redacted:
        return values
    places = sorted(rows.redacted)
    replaced = pa.array([rows.redacted[place] for place in places], pa.binary())
    return pc.replace_with_mask(values, _flags(places, len(rows)).values, replaced)


def _microseconds(timestamps_ms: list[int]) -> list[int | None]:
    """Returns microseconds, null for values that are no date: Spark and Python end with the year 9999."""
    return [time_ms * 1000 if FIRST_DATE_MS <= time_ms <= LAST_DATE_MS else None for time_ms in timestamps_ms]


class TypedColumns:
    """The rows of one record type: their places among all rows, and a column per field."""

    def __init__(self, places: pa.Array, columns: list[pa.Array]) -> None:
        self.places = places
        self.columns = columns


def typed_columns_of(rows: MetadataRows, kinds: RowKinds) -> dict[type[Message], TypedColumns]:
    """Returns the columns of every record type that has fields and a row, in the order of the tables."""
    by_class: dict[type[Message], list[TypedColumns]] = {}
    for kind, places in kinds.places().items():
        if kind.message is not None and kind.message.FIELDS:
            by_class.setdefault(kind.message, []).append(_of_kind(rows, kind, places))
    return {message: _merged(by_class[message]) for message in typed_columns() if message in by_class}


def _merged(parts: list[TypedColumns]) -> TypedColumns:
    """Merges the columns of all versions of one type, in the order of the rows."""
    if len(parts) == 1:
        return parts[0]
    places = pa.concat_arrays([part.places for part in parts])
    order = pc.array_sort_indices(places)
    columns = [
        pa.concat_arrays(list(column)).take(order)
        for column in zip(*(part.columns for part in parts), strict=True)
    ]
    return TypedColumns(places.take(order), columns)


def _of_kind(rows: MetadataRows, kind: RecordKind, places: pa.Array) -> TypedColumns:
    assert kind.message is not None
    assert kind.version is not None
    if kind.in_columns:
        return TypedColumns(places, decoded_columns(rows.columns, kind))
    messages = [rows.messages[place] for place in places.to_pylist()]
    return TypedColumns(places, field_columns(kind.message, messages, kind.version))


def field_columns(message: type[Message], messages: Sequence[Any], version: int) -> list[pa.Array]:
    """Returns a column per field of `message`, null where `version` lacks it."""
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
    """Returns where each list starts, then where the last one ends; null at the place of a null list."""
    offsets: list[int | None] = []
    end = 0
    for elements in lists:
        offsets.append(None if elements is None else end)
        end += 0 if elements is None else len(elements)
    return pa.array([*offsets, end], pa.int32())


def _structs(message: type[Message], values: list[Any], version: int) -> pa.Array:
    """Encodes structs, null ones from a message with defaults: Arrow needs values there."""
    absent = [value is None for value in values]
    if any(absent):
        values = [message() if value is None else value for value in values]
    columns = field_columns(message, values, version)
    fields = [pa.field(field_name(field), field_type(field)) for field in message.FIELDS]
    return pa.StructArray.from_arrays(columns, fields=fields, mask=pa.array(absent, pa.bool_()))
