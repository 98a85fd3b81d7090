"""Takes secrets out of rows: SCRAM keys and salts, and configuration values that are or may be secret.

The same as Kafka's own tools hide, in the struct and in the raw value alike. Delegation tokens need nothing:
the log has their ids, while their HMACs are computed from a key that never is in it.
"""

from __future__ import annotations

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.metadata_record import FRAME_VERSION, decode_metadata_record, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_spark.readable_configs import is_readable
from kraftctl_spark.rows import MetadataRow

REDACTED = "(redacted)"
"""Stands for a configuration value; null would say that the configuration was removed."""

SECRET_TYPE_IDS = frozenset({ConfigRecord.API_KEY, UserScramCredentialRecord.API_KEY})


def redact(row: MetadataRow) -> None:
    """Changes the row in place, and says so in `redacted`, if it holds a secret.

    Bytes that cannot be read are withheld when they are, or may be, of a type that has secrets.
    """
    if row.is_control:
        return
    if not row.understood:
        if _may_hide_secrets(row):
            row.payload = None
            row.redacted = True
    elif row.type_id == UserScramCredentialRecord.API_KEY:
        _redact_scram(row)
    elif row.type_id == ConfigRecord.API_KEY:
        _redact_config(row)


def _may_hide_secrets(row: MetadataRow) -> bool:
    reader = Reader(row.payload or b"")
    try:
        return reader.read_uvarint() != FRAME_VERSION or reader.read_uvarint() in SECRET_TYPE_IDS
    except DecodeError:
        return True


def _redact_scram(row: MetadataRow) -> None:
    assert row.value is not None
    row.value = {**row.value, "salt": None, "stored_key": None, "server_key": None}
    decoded = decode_metadata_record(row.payload or b"")
    record = decoded.record
    assert isinstance(record, UserScramCredentialRecord)
    record.salt = record.stored_key = record.server_key = b""
    record.unknown_tagged_fields = None
    row.payload = encode_metadata_record(record, decoded.version)
    row.redacted = True


def _redact_config(row: MetadataRow) -> None:
    assert row.value is not None
    if row.value["value"] is None or is_readable(row.value["resource_type"], row.value["name"]):
        return
    row.value = {**row.value, "value": REDACTED}
    decoded = decode_metadata_record(row.payload or b"")
    record = decoded.record
    assert isinstance(record, ConfigRecord)
    record.value = REDACTED
    row.payload = encode_metadata_record(record, decoded.version)
    row.redacted = True
