"""Names of columns for Kafka's names of records and fields."""

from __future__ import annotations

from kraftctl_protocol.message import Field, Message


def column_name(message: type[Message]) -> str:
    """Returns the struct column of a record type: `PartitionChangeRecord` is in `partition_change_record`."""
    return message.__module__.rsplit(".", 1)[-1]


def field_name(field: Field) -> str:
    """Returns the name inside a struct: the schema's, in snake_case."""
    return field.name.rstrip("_")
