"""A record of every type with all fields set, and the records that have to be in the log before it.

Values are made from the schema, so that a new type has an example before anybody thinks of it. Fields that
refer to each other, as an id does to what it names, have a fixed value.
"""

from __future__ import annotations

from typing import Any

from kraftctl.metadata import features
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.index import record_class, record_types
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.record_types import CHANGES, RECORD_TYPES, RECORD_TYPES_BY_NAME, REMOVES, SETS

ALL_TYPES: list[type[Message]] = [
    found for record_type in record_types() if (found := record_class(record_type)) is not None
]
"""Every type of metadata record that the codec knows."""

BY_NAME = {message.NAME: message for message in ALL_TYPES}

TOPIC_ID = bytes([0xAA]) * 16

SAME: dict[str, object] = {
    "broker_id": 1,
    "broker_epoch": 7,
    "epoch": 7,
    "fenced": True,
    "topic_id": TOPIC_ID,
    "topic_name": "orders",
    "partition_id": 1,
    "replicas": [1, 2, 3],
    "isr": [1, 2],
    "leader_recovery_state": 1,
    "directories": [bytes([number]) * 16 for number in (1, 2, 3)],
    "adding_replicas": [3],
    "removing_replicas": [2],
    "eligible_leader_replicas": [3],
    "last_known_elr": [3],
    "token_id": "token",
    "mechanism": 1,
}
"""Field -> its value in all types."""

OF_TYPE: dict[tuple[str, str], object] = {
    ("TopicRecord", "name"): "orders",
    ("FenceBrokerRecord", "id"): 1,
    ("UnfenceBrokerRecord", "id"): 1,
    ("RegisterBrokerRecord", "fenced"): False,
    ("RegisterBrokerRecord", "in_controlled_shutdown"): False,
    ("BrokerRegistrationChangeRecord", "fenced"): 1,
    ("BrokerRegistrationChangeRecord", "in_controlled_shutdown"): 1,
    ("PartitionRecord", "leader"): 1,
    ("PartitionChangeRecord", "leader"): 2,
    ("PartitionChangeRecord", "isr"): [2],
    ("PartitionChangeRecord", "replicas"): [2, 1, 3],
    ("PartitionChangeRecord", "leader_recovery_state"): 0,
    ("PartitionChangeRecord", "adding_replicas"): [],
    ("PartitionChangeRecord", "removing_replicas"): [3],
    ("PartitionChangeRecord", "eligible_leader_replicas"): [1],
    ("PartitionChangeRecord", "last_known_elr"): [1],
    ("ConfigRecord", "resource_type"): 2,
    ("ConfigRecord", "resource_name"): "orders",
    ("ConfigRecord", "name"): "retention.ms",
    ("ConfigRecord", "value"): "1000",
    ("FeatureLevelRecord", "name"): features.GROUP_VERSION,
    ("FeatureLevelRecord", "feature_level"): 1,
    ("ClientQuotaRecord", "remove"): False,
    ("UserScramCredentialRecord", "name"): "alice",
    ("RemoveUserScramCredentialRecord", "name"): "alice",
    ("AccessControlEntryRecord", "id"): bytes([0xBB]) * 16,
    ("RemoveAccessControlEntryRecord", "id"): bytes([0xBB]) * 16,
}

BESIDE: dict[str, tuple[str, ...]] = {
    "PartitionRecord": ("TopicRecord",),
    "UnfenceBrokerRecord": ("FenceBrokerRecord",),
    "ConfigRecord": ("TopicRecord",),
    "RemoveTopicRecord": ("PartitionRecord", "ConfigRecord"),
    "EndTransactionRecord": ("BeginTransactionRecord",),
    "AbortTransactionRecord": ("BeginTransactionRecord",),
}
"""What a type needs in the image besides what it changes or removes, to have all of its effect."""


def example(message: type[Message]) -> Message:
    """A record of this type in which no field has its default, as far as the values allow."""
    return message(**{field.name: _value(message, field) for field in message.FIELDS})


def records_before(message: type[Message]) -> list[Message]:
    """The levels of the features, and what the example refers to."""
    levels = [
        (features.METADATA_VERSION, features.LATEST_TESTING),
        (features.ELIGIBLE_LEADER_REPLICAS_VERSION, 1),
    ]
    records: list[Message] = [FeatureLevelRecord(name=name, feature_level=level) for name, level in levels]
    return records + [example(BY_NAME[name]) for name in dict.fromkeys(_needed(message.NAME))]


def _needed(name: str) -> list[str]:
    """The types of records before it, in order."""
    row = RECORD_TYPES_BY_NAME.get(name)
    first: list[str] = []
    if row is not None and row.effect in (CHANGES, REMOVES):
        first = [one.message.NAME for one in RECORD_TYPES if (one.effect, one.table) == (SETS, row.table)]
    return [needed for one in (*first, *BESIDE.get(name, ())) for needed in (*_needed(one), one)]


def _value(message: type[Message], field: Field) -> Any:
    fixed = OF_TYPE.get((message.NAME, field.name), SAME.get(field.name))
    if fixed is not None:
        return fixed
    if field.type.startswith("[]"):
        return [_element(field, field.type[2:])]
    return _element(field, field.type)


def _element(field: Field, kind: str) -> Any:
    if field.struct is not None:
        return example(field.struct)
    match kind:
        case "bool":
            return not field.default
        case "float64":
            return 2.5
        case "uuid":
            return bytes([0xCC]) * 16
        case "string":
            return f"the {field.name}"
        case "bytes" | "records":
            return f"the {field.name}".encode()
        case _:
            return 3


def with_another(message: type[Message], field: Field) -> Message:
    """The example with another valid value in one field."""
    record = example(message)
    setattr(record, field.name, _another(getattr(record, field.name)))
    return record


def _another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, Message):
        changed = type(value)(**{field.name: getattr(value, field.name) for field in value.FIELDS})
        first = value.FIELDS[0].name
        setattr(changed, first, _another(getattr(changed, first)))
        return changed
    match value:
        case int() | float():
            return value - 1
        case str():
            return f"another {value}"
        case bytes():
            return bytes([0xDD]) * len(value)
        case [int(), *_]:
            return list(reversed(value)) if len(value) > 1 else [4]
        case []:
            return [4]
        case _:
            return [*value[:-1], _another(value[-1])]
