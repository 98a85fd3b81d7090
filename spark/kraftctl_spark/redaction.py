"""Takes secrets out of rows: SCRAM keys and salts, and configuration values that are or may be secret.

The same as Kafka's own tools hide, in the struct and in the raw value alike. Delegation tokens need nothing:
the log has their ids, while their HMACs are computed from a key that never is in it.
"""

from __future__ import annotations

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import FRAME_VERSION, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_spark.readable_configs import is_readable
from kraftctl_spark.rows import TYPES_WITH_SECRETS, MetadataRows

REDACTED = "(redacted)"
"""Stands for a configuration value; null would say that the configuration was removed."""


class RedactedScramCredential:
    """Stands for a UserScramCredentialRecord, whose own fields cannot be null."""

    salt = stored_key = server_key = None

    def __init__(self, record: UserScramCredentialRecord) -> None:
        self.name = record.name
        self.mechanism = record.mechanism
        self.iterations = record.iterations


def redact(rows: MetadataRows) -> None:
    """Changes in place what holds a secret, and says so in `redacted`.

    Bytes that cannot be read are withheld when they are, or may be, of a type that has secrets.
    """
    for kind, places in rows.by_kind().items():
        if kind.is_control:
            continue
        if kind.message is None:
            for place in places:
                _withhold(rows, place)
        elif kind.message is UserScramCredentialRecord:
            for place in places:
                _redact_scram(rows, place)
        elif kind.message is ConfigRecord:
            for place in places:
                _redact_config(rows, place)


def _withhold(rows: MetadataRows, place: int) -> None:
    if _may_hide_secrets(rows.payloads[place] or b""):
        rows.payloads[place] = None
        rows.redacted.add(place)


def _may_hide_secrets(payload: bytes) -> bool:
    reader = Reader(payload)
    try:
        return reader.read_uvarint() != FRAME_VERSION or reader.read_uvarint() in TYPES_WITH_SECRETS
    except DecodeError:
        return True


def _redact_scram(rows: MetadataRows, place: int) -> None:
    record = rows.messages[place]
    assert isinstance(record, UserScramCredentialRecord)
    record.salt = record.stored_key = record.server_key = b""
    record.unknown_tagged_fields = None
    _encode_again(rows, place, record)
    rows.messages[place] = RedactedScramCredential(record)


def _redact_config(rows: MetadataRows, place: int) -> None:
    record = rows.messages[place]
    assert isinstance(record, ConfigRecord)
    if is_readable(record.resource_type, record.name):
        return
    if record.value is None and not record.unknown_tagged_fields:
        return
    record.value = None if record.value is None else REDACTED
    record.unknown_tagged_fields = None
    _encode_again(rows, place, record)


def _encode_again(rows: MetadataRows, place: int, record: Message) -> None:
    version = rows.kinds[place].version
    assert version is not None
    rows.payloads[place] = encode_metadata_record(record, version)
    rows.redacted.add(place)
