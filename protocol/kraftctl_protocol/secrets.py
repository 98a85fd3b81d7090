"""What of a metadata record is hidden: SCRAM keys and salts, and configurations that are or may be secret.

The rule of Kafka's RecordRedactor, for whatever prints or exports records. Delegation tokens need nothing:
the log has their ids, while their HMACs are computed from a key that never is in it.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.readable_configs import is_readable

REDACTED: Final = "(redacted)"
"""Stands for a configuration value; null would say that the configuration was removed."""

TYPES_WITH_SECRETS: Final = frozenset({ConfigRecord.API_KEY, UserScramCredentialRecord.API_KEY})


def redact(record: Message) -> bool:
    """Take the secrets out of `record`, in place; whether there was any.

    Also what a later release may have added beside them. Keys and salts are empty afterwards.
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
    """The value of a configuration as a line of a log may have it."""
    return value if is_readable(resource_type, name) else REDACTED
