"""Removes from structs and raw values what may be secret according to `kraftctl_protocol.secrets`."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Collection
from typing import Final

from kraftctl_protocol import secrets as redaction
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import FRAME_VERSION, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_protocol.secrets import REDACTED, SECRET_FIELDS, TYPES_WITH_SECRETS
from kraftctl_spark.rows.metadata_rows import MetadataRows


class RedactedRecord:
    """Replaces a record whose secret fields cannot be null: here they are."""

    def __init__(self, record: Message) -> None:
        secret = SECRET_FIELDS[record.API_KEY]
        for field in record.FIELDS:
            setattr(self, field.name, None if field.name in secret else getattr(record, field.name))


DIGEST_BYTES: Final = 8
"""The length of a digest: enough that two values of a configuration do not have the same one."""

_REPLACED: Final = re.compile(rf"{re.escape(REDACTED)}( [0-9a-f]{{{2 * DIGEST_BYTES}}})?")


def redact(rows: MetadataRows, key: bytes | None = None, before: Collection[int] = ()) -> None:
    """Redacts messages in place; `redacted` then has the raw values that replace those with secrets.

    With a key, the value of a configuration leaves a digest behind, by which a new one differs from the same
    one. What has replaced a value before, at the places `before`, is kept: elsewhere, a value that looks like
    it is a secret as any other.
    Bytes that cannot be decoded are removed when they are, or may be, of a type that has secrets.
    """
    for place, value in rows.not_understood.items():
        if _may_hide_secrets(value):
            rows.redacted[place] = None
    for place, kind in rows.other_kinds.items():
        if kind.message is not None and kind.message.API_KEY in TYPES_WITH_SECRETS and not kind.is_control:
            _redact(rows, place, key, was_redacted=place in before)


def _may_hide_secrets(payload: bytes) -> bool:
    reader = Reader(payload)
    try:
        return reader.read_uvarint() != FRAME_VERSION or reader.read_uvarint() in TYPES_WITH_SECRETS
    except DecodeError:
        return True


def _redact(rows: MetadataRows, place: int, key: bytes | None, *, was_redacted: bool) -> None:
    record = rows.messages[place]
    assert isinstance(record, Message)
    value = record.value if isinstance(record, ConfigRecord) else None
    if not redaction.redact(record):
        return
    if isinstance(record, ConfigRecord) and value is not None:
        if was_redacted and is_redacted(value):
            record.value = value
        elif key is not None:
            record.value = f"{REDACTED} {_digest(record, value, key)}"
    _encode_again(rows, place, record)
    if not isinstance(record, ConfigRecord):
        rows.messages[place] = RedactedRecord(record)


def is_redacted(value: str) -> bool:
    """Returns whether this may have replaced a secret value: it has the form, with or without a digest."""
    return _REPLACED.fullmatch(value) is not None


def _digest(record: ConfigRecord, value: str, key: bytes) -> str:
    """Returns a digest of the value at its place: the same password elsewhere has another one."""
    text = repr((record.resource_type, record.resource_name, record.name, value))
    return hmac.digest(key, text.encode(), hashlib.sha256)[:DIGEST_BYTES].hex()


def _encode_again(rows: MetadataRows, place: int, record: Message) -> None:
    version = rows.other_kinds[place].version
    assert version is not None
    rows.redacted[place] = encode_metadata_record(record, version)
