"""The whole state of an image as plain values: what is added to an image later is part of it by itself."""

from __future__ import annotations

from typing import Any

from kraftctl.image.acl_index import AclIndex
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topic_partitions import TopicPartitions
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.partition_registration import PartitionRegistration

NO_STATE = {"journal", "_journal", "broker_changes", "parts", "parts_by_record_type", "_topics"}
"""Attributes that say how an image came to be, and those that list its parts once more."""

OF_OFFSETS = {"registration_offsets", "last_change_offset"}
"""What a snapshot does not keep: after loading one, it is the last offset that it contains."""


def state_of(image: MetadataImage) -> dict[str, Any]:
    """Equal for images that must be equal at the same offset."""
    found: dict[str, Any] = _plain(image)
    return found


def state_without_offsets(image: MetadataImage) -> dict[str, Any]:
    """Equal for an image and one that was read from its snapshot."""
    parts = state_of(image)
    return {
        name: {key: value for key, value in part.items() if key not in OF_OFFSETS}
        for name, part in parts.items()
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, set | frozenset):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, PartitionRegistration):
        return repr(value.to_record(bytes(16), 0, metadata_version=1 << 30, elr_enabled=True).record)
    if isinstance(value, TopicPartitions):
        return {index: _plain(value[index]) for index in value}
    if isinstance(value, AclIndex):
        return {acl_id for acls in value.types() for pattern in acls.all() for acl_id, _ in pattern.all()}
    if isinstance(value, InternedTuples):
        return None
    return {name: _plain(getattr(value, name)) for name in attributes_of(value) if name not in NO_STATE}


def attributes_of(value: object) -> list[str]:
    """Those of a compiled class are declared, those of an interpreted one are in its dictionary."""
    declared = getattr(type(value), "__mypyc_attrs__", None)
    names = list(vars(value)) if declared is None else list(declared)
    assert names, f"{value!r} has no attributes to compare"
    return names
