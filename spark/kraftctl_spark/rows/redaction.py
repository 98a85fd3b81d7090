"""Removes from structs and raw values what may be secret according to `kraftctl_protocol.secrets`."""

from __future__ import annotations

from kraftctl_protocol import secrets as redaction
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import FRAME_VERSION, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_protocol.secrets import SECRET_FIELDS, TYPES_WITH_SECRETS
from kraftctl_spark.rows.metadata_rows import MetadataRows


class RedactedRecord:
    """Replaces a record whose secret fields cannot be null: here they are."""

    def __init__(self, record: Message) -> None:
        secret = SECRET_FIELDS[record.API_KEY]
        for field in record.FIELDS:
            setattr(self, field.name, None if field.name in secret else getattr(record, field.name))


def redact(rows: MetadataRows) -> None:
    """Redacts messages in place; `redacted` then has the raw values that replace those with secrets.

    Bytes that cannot be decoded are removed when they are, or may be, of a type that has secrets.
    """
    for place, value in rows.not_understood.items():
        if _may_hide_secrets(value):
            rows.redacted[place] = None
    for place, kind in rows.other_kinds.items():
        if kind.message is not None and kind.message.API_KEY in TYPES_WITH_SECRETS and not kind.is_control:
            _redact(rows, place)


def _may_hide_secrets(payload: bytes) -> bool:
    reader = Reader(payload)
    try:
        return reader.read_uvarint() != FRAME_VERSION or reader.read_uvarint() in TYPES_WITH_SECRETS
    except DecodeError:
        return True


def _redact(rows: MetadataRows, place: int) -> None:
    record = rows.messages[place]
    assert isinstance(record, Message)
    if not redaction.redact(record):
        return
    _encode_again(rows, place, record)
    if not isinstance(record, ConfigRecord):
        rows.messages[place] = RedactedRecord(record)


def _encode_again(rows: MetadataRows, place: int, record: Message) -> None:
    version = rows.other_kinds[place].version
    assert version is not None
    rows.redacted[place] = encode_metadata_record(record, version)
