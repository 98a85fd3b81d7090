"""Hides secrets in metadata records: SCRAM keys and salts, and configurations that are or may be secret.

The rule of Kafka's RecordRedactor, for everything that prints or exports records. Delegation tokens need no
redaction: the log holds their ids, and their HMACs are computed from a key that is never in the log.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.readable_configs import is_readable
from kraftctl_protocol.record_types import RECORD_TYPES

REDACTED: Final = "(redacted)"
"""Replaces a configuration value; null would mean that the configuration was removed."""

SECRET_FIELDS: Final[dict[int, tuple[str, ...]]] = {
    row.message.API_KEY: row.secret for row in RECORD_TYPES if row.secret
}
"""By record type. Of a ConfigRecord, the value is one unless `readable_configs` says that it may be shown."""

TYPES_WITH_SECRETS: Final = frozenset(SECRET_FIELDS)


def redact(record: Message) -> bool:
    """Removes the secrets from `record`, in place; returns whether there were any.

    Unknown tagged fields beside them are removed too. Secret fields are empty afterwards, except for the
    value of a ConfigRecord: it is a text that says so.
    """
    if isinstance(record, ConfigRecord):
        if is_readable(record.resource_type, record.name):
            return False
        if record.value is None and not record.unknown_tagged_fields:
            return False
        record.value = None if record.value is None else REDACTED
    elif record.API_KEY in TYPES_WITH_SECRETS:
        for name in SECRET_FIELDS[record.API_KEY]:
            setattr(record, name, type(getattr(record, name))())
    else:
        return False
    record.unknown_tagged_fields = None
    return True


def shown_value(resource_type: int, name: str, value: str) -> str:
    """Returns the value of a configuration as a log line may show it."""
    return value if is_readable(resource_type, name) else REDACTED
