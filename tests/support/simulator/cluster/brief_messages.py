"""Raft messages on one short line: Kafka's names, without the nesting and without what never differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batches

ALWAYS_THE_SAME = {
    *("cluster_id", "topic", "topic_id", "topic_name", "name", "leader_endpoints", "node_endpoints"),
    *("endpoints", "listeners", "host", "port", "kraft_version_feature", "max_wait_ms", "min_bytes"),
    *("replica_directory_id", "voter_directory_id", "candidate_directory_id", "max_bytes"),
}
"""One partition of one topic, one directory of each node, and the same limits in every request."""


def brief(message: Message) -> str:
    """Returns the name, and the fields at any depth that differ from their defaults."""
    return " ".join([type(message).__name__, *_fields(message)])


def brief_records(batch: bytes) -> list[str]:
    """Returns the control records of a batch."""
    records = read_batches(batch)[0].records
    messages = [decode_control_value(decode_control_key(record.key), record.value) for record in records]
    return [brief(message) for message in messages]


def _fields(message: Message) -> Iterator[str]:
    schema_class = next(each for each in type(message).__mro__ if "FIELDS" in vars(each))
    defaults = schema_class()
    for field in schema_class.FIELDS:
        value = getattr(message, field.name)
        if field.name not in ALWAYS_THE_SAME and value not in (getattr(defaults, field.name), b""):
            yield from _values(field.name, value)


def _values(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Message):
        yield from _fields(value)
    elif isinstance(value, list) and value and isinstance(value[0], Message):
        for each in value:
            yield from _fields(each)
    elif name == "error_code":
        yield Errors(value).name
    elif name == "records":
        batches = [batch.header for batch in read_batches(value)] if value else []
        yield from (f"records={each.base_offset}-{each.last_offset}" for each in batches)
    elif isinstance(value, bytes):
        yield f"{name}={len(value)}-bytes"
    elif value is not None:
        yield f"{name}={value}"
