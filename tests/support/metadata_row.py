"""A record as one row, field by field: slow and plain, what the exporter's columns are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_columns import NOT_TAKEN
from kraftctl_protocol.uuids import uuid_to_string
from kraftctl_spark.rows.decoded_columns import array_of
from kraftctl_spark.rows.metadata_rows import MetadataRows, RecordKind, column_kind
from kraftctl_spark.rows.record_names import column_name, field_name


@dataclass
class MetadataRow:
    """One of `MetadataRows`, by Kafka's names."""

    offset: int | None
    epoch: int
    timestamp_ms: int
    type: str
    type_id: int | None
    version: int | None
    is_control: bool
    payload: bytes | None
    snapshot_end_offset: int | None
    snapshot_index: int | None
    batch_offset: int | None
    aborted: bool
    redacted: bool
    understood: bool
    column: str | None
    """The path of its fields; None when it has none, or could not be decoded."""
    value: dict[str, Any] | None


def row_list(rows: MetadataRows) -> list[MetadataRow]:
    """The rows, one by one."""
    values = array_of(rows.columns.values, pa.binary()).to_pylist()
    return [_row(rows, place, kind, values[place]) for place, kind in enumerate(kinds_of(rows))]


def kinds_of(rows: MetadataRows) -> list[RecordKind]:
    """The kind of each row."""
    numbers = memoryview(rows.columns.kinds.getvalue()).cast("i")
    return [
        rows.other_kinds[place] if number == NOT_TAKEN else column_kind(number)
        for place, number in enumerate(numbers)
    ]


def _row(rows: MetadataRows, place: int, kind: RecordKind, value: bytes | None) -> MetadataRow:
    of_snapshot = rows.snapshot_end_offset is not None
    offset = rows.runs.offset(place)
    run = rows.runs.run_of(place)
    message = kind.message if kind.message is not None and kind.message.FIELDS else None
    decoded = _message(rows, place, kind, value)
    return MetadataRow(
        offset=None if of_snapshot else offset,
        epoch=rows.runs.epochs[run],
        timestamp_ms=rows.runs.timestamps_ms[run],
        type=kind.type,
        type_id=kind.type_id,
        version=kind.version,
        is_control=kind.is_control,
        payload=rows.redacted.get(place, value),
        snapshot_end_offset=rows.snapshot_end_offset,
        snapshot_index=offset if of_snapshot else None,
        batch_offset=None if of_snapshot else rows.runs.batch_offsets[run],
        aborted=place in rows.aborted,
        redacted=place in rows.redacted,
        understood=kind.message is not None,
        column=None if message is None else column_name(message),
        value=None if message is None else struct_value(message, decoded, kind.version or 0),
    )


def _message(rows: MetadataRows, place: int, kind: RecordKind, value: bytes | None) -> object:
    """The decoded record; decoded again from the payload when it went directly into columns."""
    if kind.in_columns:
        return decode_metadata_record(value or b"").record
    return rows.messages.get(place)


def struct_value(kind: type[Message], message: Any, version: int) -> dict[str, Any]:
    """The fields of a message that exist in `version`, by name, as values of plain Python types."""
    return {
        field_name(field): _plain(field, field.type, getattr(message, field.name), version)
        for field in kind.FIELDS
        if field.in_version(version)
    }


def _plain(field: Field, kind: str, value: Any, version: int) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_plain(field, kind[2:], element, version) for element in value]
    if field.struct is not None:
        return struct_value(field.struct, value, version)
    return uuid_to_string(value) if kind == "uuid" else value
