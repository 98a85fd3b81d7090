"""Hides secrets in metadata records: SCRAM keys and salts, and configurations that are or may be secret.

The rule of Kafka's RecordRedactor, for everything that prints or exports records. Delegation tokens need no
redaction: the log holds their ids, and their HMACs are computed from a key that is never in the log.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.readable_configs import is_readable

REDACTED: Final = "(redacted)"
"""Replaces a configuration value; null would mean that the configuration was removed."""

TYPES_WITH_SECRETS: Final = frozenset({ConfigRecord.API_KEY, UserScramCredentialRecord.API_KEY})


def redact(record: Message) -> bool:
    """Remove the secrets from `record`, in place; returns whether there were any.

    Unknown tagged fields beside them are removed too. Keys and salts are empty afterwards.
    """
    if isinstance(record, UserScramCredentialRecord):
        record.salt = record.stored_key = record.server_key = b""
    elif isinstance(record, ConfigRecord) and not is_readable(record.resource_type, record.name):
        if record.value is None and not record.unknown_tagged_fields:
            return False
        record.value = None if record.value is None else REDACTED
    else:
        return False
    record.unknown_tagged_fields = None
    return True


def shown_value(resource_type: int, name: str, value: str) -> str:
    """The value of a configuration as a log line may show it."""
    return value if is_readable(resource_type, name) else REDACTED
