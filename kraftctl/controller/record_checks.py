"""Checks of every record before it is appended: a bad record stays on the disk of every broker.

A broker halts on a record it cannot decode, and again at each restart. So the bytes are decoded again before
the append, and a record type or version that the finalized metadata.version lacks is a bug on our side.

Of a new partition, of which one request may write 10,000, the length is compared instead: all its fields have
fixed sizes, and the codec refuses values that do not fit, so that bytes of the right length can be decoded.
"""

from __future__ import annotations

from typing import Final

from kraftctl.metadata import features
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.metadata_record import (
    RecordAndVersion,
    decode_metadata_record,
    encode_metadata_record,
)
from kraftctl_protocol.uuids import UUID_SIZE

SHORT_LIST_MAX: Final = 126
"""The length of a list is written as an unsigned varint, one higher: so far it is one byte."""

MIN_VERSION: Final = features.MINIMUM_METADATA_VERSION

ALLOWED_SINCE: Final[dict[str, tuple[int, ...]]] = {
    "RegisterBrokerRecord": (
        MIN_VERSION,
        MIN_VERSION,
        features.IBP_3_4_IV0,
        features.IBP_3_7_IV2,
        features.IBP_4_3_IV0,
    ),
    "UnregisterBrokerRecord": (MIN_VERSION,),
    "TopicRecord": (MIN_VERSION,),
    "PartitionRecord": (MIN_VERSION, features.IBP_3_7_IV2, features.IBP_4_0_IV1),
    "ConfigRecord": (MIN_VERSION,),
    "PartitionChangeRecord": (MIN_VERSION, features.IBP_3_7_IV2, features.IBP_4_0_IV1),
    "FenceBrokerRecord": (MIN_VERSION,),
    "UnfenceBrokerRecord": (MIN_VERSION,),
    "RemoveTopicRecord": (MIN_VERSION,),
    "DelegationTokenRecord": (features.IBP_3_6_IV2,),
    "UserScramCredentialRecord": (features.IBP_3_5_IV2,),
    "FeatureLevelRecord": (MIN_VERSION,),
    "ClientQuotaRecord": (MIN_VERSION,),
    "ProducerIdsRecord": (MIN_VERSION,),
    "BrokerRegistrationChangeRecord": (
        MIN_VERSION,
        MIN_VERSION,
        features.IBP_3_7_IV2,
        features.IBP_4_3_IV0,
    ),
    "AccessControlEntryRecord": (MIN_VERSION,),
    "RemoveAccessControlEntryRecord": (MIN_VERSION,),
    "NoOpRecord": (MIN_VERSION,),
    "RemoveUserScramCredentialRecord": (features.IBP_3_5_IV2,),
    "BeginTransactionRecord": (features.IBP_3_6_IV1,),
    "EndTransactionRecord": (features.IBP_3_6_IV1,),
    "AbortTransactionRecord": (features.IBP_3_6_IV1,),
    "RemoveDelegationTokenRecord": (features.IBP_3_6_IV2,),
    "RegisterControllerRecord": (features.IBP_3_7_IV0,),
    "ClearElrRecord": (features.IBP_4_0_IV1,),
}
"""Record -> for each of its versions, from 0 on, the metadata.version that allows it."""


def encode_checked(entry: RecordAndVersion, metadata_version: int) -> bytes:
    """The encoded record. `metadata_version` is the level that is finalized when it is appended."""
    name = entry.record.NAME
    since = ALLOWED_SINCE.get(name)
    assert since is not None, f"{name} is never written"
    assert 0 <= entry.version < len(since), f"{name} has no version {entry.version}"
    assert metadata_version >= since[entry.version], (
        f"{name} version {entry.version} is not for metadata.version {metadata_version}"
    )
    record = entry.record
    value = encode_metadata_record(record, entry.version)
    if isinstance(record, PartitionRecord) and _is_plain(record):
        size = _plain_size(record, entry.version)
        assert len(value) == size, f"{name} does not survive encoding: {len(value)} bytes, not {size}"
        return value
    decoded = decode_metadata_record(value)
    assert decoded.version == entry.version, f"{name} does not survive encoding"
    assert decoded.record.API_KEY == record.API_KEY, f"{name} does not survive encoding"
    return value


def _is_plain(record: PartitionRecord) -> bool:
    """Whether it has no tagged fields, and lists whose lengths take a byte each."""
    return (
        record.leader_recovery_state == 0
        and record.eligible_leader_replicas is None
        and record.last_known_elr is None
        and record.unknown_tagged_fields is None
        and len(record.replicas) <= SHORT_LIST_MAX
        and len(record.isr) <= SHORT_LIST_MAX
        and len(record.removing_replicas) <= SHORT_LIST_MAX
        and len(record.adding_replicas) <= SHORT_LIST_MAX
        and len(record.directories) <= SHORT_LIST_MAX
    )


def _plain_size(record: PartitionRecord, version: int) -> int:
    """The frame, a UUID, four integers, four lists of integers, no tags; from version 1 on, directories."""
    lists = (
        len(record.replicas) + len(record.isr) + len(record.removing_replicas) + len(record.adding_replicas)
    )
    size = 3 + UUID_SIZE + 4 * 4 + 4 + 4 * lists + 1
    return size if version == 0 else size + 1 + UUID_SIZE * len(record.directories)
