"""The rows of record batches, made one record at a time: what the exporter's columns must equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from kraftctl_protocol.control_record import (
    UnknownControlRecordError,
    decode_control_key,
    decode_control_value,
)
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import (
    UnknownRecordError,
    decode_metadata_record,
    encode_metadata_record,
)
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_protocol.readable_configs import is_readable
from kraftctl_protocol.record_batch import Record, RecordBatch
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.rows.metadata_rows import UNDECODABLE_TYPE, UNKNOWN_TYPE
from kraftctl_spark.rows.record_names import column_name
from tests.support.metadata_row import MetadataRow, struct_value

Aborted = tuple[tuple[int, int], ...]


def reference_rows(
    batches: Iterable[RecordBatch], snapshot_end_offset: int | None, aborted: Aborted, secrets: bool
) -> list[MetadataRow]:
    return [
        row if secrets else _redacted(row)
        for batch in batches
        for record in batch.records
        for row in [_row(batch, record, snapshot_end_offset, aborted)]
    ]


def _row(
    batch: RecordBatch, record: Record, snapshot_end_offset: int | None, aborted: Aborted
) -> MetadataRow:
    in_log = snapshot_end_offset is None
    is_control = batch.header.is_control
    row = MetadataRow(
        offset=record.offset if in_log else None,
        epoch=batch.header.partition_leader_epoch,
        timestamp_ms=record.timestamp_ms,
        type=UNDECODABLE_TYPE,
        type_id=None,
        version=None,
        is_control=is_control,
        payload=record.value,
        snapshot_end_offset=snapshot_end_offset,
        snapshot_index=None if in_log else record.offset,
        batch_offset=batch.header.base_offset if in_log else None,
        aborted=in_log and not is_control and any(a <= record.offset <= b for a, b in aborted),
        redacted=False,
        understood=False,
        column=None,
        value=None,
    )
    return _control(row, record) if is_control else _data(row, record)


def _data(row: MetadataRow, record: Record) -> MetadataRow:
    try:
        decoded = decode_metadata_record(record.value or b"")
    except UnknownRecordError as error:
        known = record_class(error.record_type)
        name = UNKNOWN_TYPE if known is None else known.NAME
        return replace(row, type=name, type_id=error.record_type, version=error.version)
    except DecodeError:
        return _in_frame(row, record.value or b"")
    return _understood(row, decoded.record, decoded.record.API_KEY, decoded.version)


def _in_frame(row: MetadataRow, value: bytes) -> MetadataRow:
    """A damaged record has the type and version of its frame, unless that is damaged, too."""
    reader = Reader(value)
    try:
        frame_version, type_id, version = (reader.read_uvarint() for _ in range(3))
    except DecodeError:
        return row
    return replace(row, type_id=type_id, version=version) if frame_version == 1 else row


def _control(row: MetadataRow, record: Record) -> MetadataRow:
    try:
        type_id = decode_control_key(record.key)
    except DecodeError:
        return row
    try:
        message = decode_control_value(type_id, record.value)
    except UnknownControlRecordError:
        return replace(row, type=UNKNOWN_TYPE, type_id=type_id)
    except DecodeError:
        return replace(row, type_id=type_id)
    return _understood(row, message, type_id, getattr(message, "version", 0))


def _understood(row: MetadataRow, message: Message, type_id: int, version: int) -> MetadataRow:
    known = replace(row, type=message.NAME, type_id=type_id, version=version, understood=True)
    if not message.FIELDS:
        return known
    value = struct_value(type(message), message, version)
    return replace(known, column=column_name(type(message)), value=value)


def _redacted(row: MetadataRow) -> MetadataRow:
    if row.is_control:
        return row
    if not row.understood:
        payload = row.payload or b""
        harmless = payload[:1] == b"\x01" and len(payload) > 1 and payload[1] not in (4, 11)
        return row if harmless else replace(row, payload=None, redacted=True)
    if row.type == UserScramCredentialRecord.NAME:
        return _without(row, salt=None, stored_key=None, server_key=None)
    if row.type == ConfigRecord.NAME:
        assert row.value is not None
        hidden = row.value["value"] is not None and not is_readable(
            row.value["resource_type"], row.value["name"]
        )
        return _without(row, value=REDACTED) if hidden else row
    return row


def _without(row: MetadataRow, **fields: Any) -> MetadataRow:
    assert row.value is not None
    decoded = decode_metadata_record(row.payload or b"")
    for name, value in fields.items():
        setattr(decoded.record, name, b"" if value is None else value)
    payload = encode_metadata_record(decoded.record, decoded.version)
    return replace(row, value={**row.value, **fields}, payload=payload, redacted=True)


def table_rows(
    rows: list[MetadataRow], columns: dict[str, list[str]], cluster_id: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row in its typed table, as (table, row); `columns` has the column names of the tables."""
    for row in rows:
        place = {
            "offset": row.offset,
            "log_epoch": row.epoch,
            "timestamp": row.timestamp_ms,
            "record_version": row.version,
            "aborted": row.aborted,
            "redacted": row.redacted,
            "snapshot_end_offset": row.snapshot_end_offset,
            "snapshot_index": row.snapshot_index,
            "batch_offset": row.batch_offset,
            "cluster_id": cluster_id,
        }
        yield (
            "records",
            {
                **place,
                "type": row.type,
                "type_id": row.type_id,
                "is_control": row.is_control,
                "payload": row.payload,
            },
        )
        if row.column is not None and row.value is not None:
            fields = columns[row.column][len(place) :]
            yield row.column, {**place, **{name: row.value.get(name) for name in fields}}
