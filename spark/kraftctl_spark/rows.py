"""Decoded records as rows: plain values, no Spark, no Arrow.

Every offset gives exactly one row, whatever it holds. What cannot be decoded keeps its raw bytes and a null
struct: a newer controller may write records that this release does not know, and they must neither stop the
export nor get lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kraftctl_protocol.control_record import (
    UnknownControlRecordError,
    decode_control_key,
    decode_control_value,
)
from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.metadata_record import UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import Record, RecordBatch
from kraftctl_protocol.uuids import uuid_to_string

RECORD_TYPE_IDS = range(256)
"""Where record types are looked for; Kafka numbers them from 0."""

UNKNOWN_TYPE = "Unknown"
"""`type` of a sound record whose type id nobody here knows."""

UNDECODABLE_TYPE = "Undecodable"
"""`type` of a record whose bytes make no sense."""


def _data_record_classes() -> list[type[Message]]:
    classes = (record_class(type_id) for type_id in RECORD_TYPE_IDS)
    return [found for found in classes if found is not None]


CONTROL_RECORD_CLASSES: list[type[Message]] = [
    LeaderChangeMessage,
    SnapshotHeaderRecord,
    SnapshotFooterRecord,
    KRaftVersionRecord,
    VotersRecord,
]

TYPED_CLASSES: list[type[Message]] = [*_data_record_classes(), *CONTROL_RECORD_CLASSES]
"""All classes that have a struct of their own in a row; those without fields only have their `type`."""


def column_name(message: type[Message]) -> str:
    """The struct column of a record type: `PartitionChangeRecord` is in `partition_change_record`."""
    return message.__module__.rsplit(".", 1)[-1]


def field_name(field: Field) -> str:
    """The name inside a struct: the schema's, in snake_case."""
    return field.name.rstrip("_")


class MetadataRow:
    """One row of the exported table."""

    __slots__ = (
        "aborted",
        "column",
        "epoch",
        "is_control",
        "offset",
        "payload",
        "redacted",
        "snapshot_end_offset",
        "snapshot_index",
        "timestamp_ms",
        "type",
        "type_id",
        "understood",
        "value",
        "version",
    )

    def __init__(
        self,
        *,
        offset: int | None,
        epoch: int,
        timestamp_ms: int,
        is_control: bool,
        payload: bytes | None,
        snapshot_end_offset: int | None,
        snapshot_index: int | None,
    ) -> None:
        self.offset = offset
        """Of the log; None for a record that comes out of a snapshot, which has no offset of its own."""
        self.epoch = epoch
        self.timestamp_ms = timestamp_ms
        self.is_control = is_control
        self.payload = payload
        self.snapshot_end_offset = snapshot_end_offset
        self.snapshot_index = snapshot_index
        self.type = UNDECODABLE_TYPE
        self.type_id: int | None = None
        self.understood = False
        """Whether it was decoded; a type without fields still has no `value`."""
        self.version: int | None = None
        self.column: str | None = None
        self.value: dict[str, Any] | None = None
        self.aborted = False
        """Set by who knows the transactions around it."""
        self.redacted = False
        """Set by who takes secrets out of `payload` and `value`."""

    def __repr__(self) -> str:
        return f"MetadataRow(offset={self.offset}, epoch={self.epoch}, type={self.type}, value={self.value})"


def rows_of_batch(batch: RecordBatch, first_offset: int, end_offset: int) -> list[MetadataRow]:
    """Rows for those records of a log batch that lie in [first_offset, end_offset)."""
    return [
        _row(record, batch, record.offset, None, None)
        for record in batch.records
        if first_offset <= record.offset < end_offset
    ]


def rows_of_snapshot_batch(batch: RecordBatch, snapshot_end_offset: int) -> list[MetadataRow]:
    """Rows for all records of a batch of the snapshot that ends (exclusively) at `snapshot_end_offset`."""
    return [_row(record, batch, None, snapshot_end_offset, record.offset) for record in batch.records]


def _row(
    record: Record,
    batch: RecordBatch,
    offset: int | None,
    snapshot_end_offset: int | None,
    snapshot_index: int | None,
) -> MetadataRow:
    row = MetadataRow(
        offset=offset,
        epoch=batch.header.partition_leader_epoch,
        timestamp_ms=record.timestamp_ms,
        is_control=batch.header.is_control,
        payload=record.value,
        snapshot_end_offset=snapshot_end_offset,
        snapshot_index=snapshot_index,
    )
    if batch.header.is_control:
        _fill_control(row, record)
    else:
        _fill_data(row, record)
    return row


def _fill_data(row: MetadataRow, record: Record) -> None:
    try:
        decoded = decode_metadata_record(record.value or b"")
    except UnknownRecordError as error:
        known = record_class(error.record_type)
        row.type = UNKNOWN_TYPE if known is None else known.NAME
        row.type_id = error.record_type
        row.version = error.version
        return
    except DecodeError:
        return
    row.type_id = decoded.record.API_KEY
    _fill_value(row, decoded.record, decoded.version)


def _fill_control(row: MetadataRow, record: Record) -> None:
    try:
        row.type_id = decode_control_key(record.key)
        message = decode_control_value(row.type_id, record.value)
    except UnknownControlRecordError:
        row.type = UNKNOWN_TYPE
        return
    except DecodeError:
        return
    _fill_value(row, message, _own_version(message))


def _own_version(message: Message) -> int:
    """Control records say their version in a field, since nothing frames them."""
    version = getattr(message, "version", 0)
    assert isinstance(version, int)
    return version


def _fill_value(row: MetadataRow, message: Message, version: int) -> None:
    row.type = message.NAME
    row.version = version
    row.understood = True
    if message.FIELDS:
        row.column = column_name(type(message))
        row.value = struct_value(message, version)


Converter = Callable[[Any], Any]

_UUIDS_REMEMBERED = 65_536
_uuid_text = lru_cache(maxsize=_UUIDS_REMEMBERED)(uuid_to_string)
"""Topic and directory ids come again and again."""


def struct_value(message: Message, version: int) -> dict[str, Any]:
    """The fields of a message that exist in `version`, by name, as values of plain Python types."""
    value: dict[str, Any] = {}
    for name, attribute, convert in _plan_of(message, version):
        got = getattr(message, attribute)
        value[name] = got if convert is None or got is None else convert(got)
    return value


Plan = tuple[tuple[str, str, Converter | None], ...]
"""Per field: name in the row, name in the message, and how to make a plain value of it."""

_PLANS: dict[tuple[type[Message], int], Plan] = {}


def _plan_of(message: Message, version: int) -> Plan:
    plan = _PLANS.get((type(message), version))
    if plan is None:
        plan = tuple(
            (field_name(field), field.name, _converter(field, version))
            for field in message.FIELDS
            if field.in_version(version)
        )
        _PLANS[type(message), version] = plan
    return plan


def _converter(field: Field, version: int) -> Converter | None:
    if field.type == "uuid":
        return _uuid_text
    if field.type == "[]uuid":
        return _uuid_texts
    if field.struct is None:
        return None
    if field.type.startswith("[]"):
        return lambda elements: [struct_value(element, version) for element in elements]
    return lambda element: struct_value(element, version)


def _uuid_texts(values: list[bytes]) -> list[str]:
    return [_uuid_text(value) for value in values]
