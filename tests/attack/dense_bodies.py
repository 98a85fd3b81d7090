"""The bodies that make most objects of a byte: arrays of empty entries, API by API."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.attack import frames
from tests.attack.frames import compact, compact_array, densest, request

EMPTY = b"\1\1\0"
"""An entry of an empty string (or array), an empty array and no tags: three bytes."""

INT32 = struct.pack(">i", 1)
ZERO64 = bytes(8)


def _dense(
    api_key: int, version: int, prefix: bytes, unit: bytes, suffix: bytes, *, flexible: bool = True
) -> Callable[[int], bytes]:
    def payload(size_bytes: int) -> bytes:
        body = densest(prefix, unit, suffix, size_bytes, flexible=flexible)
        return request(api_key, version, body, flexible=flexible)

    return payload


def _partitions(
    api_key: int, version: int, start: bytes, partition: bytes, end: bytes
) -> Callable[[int], bytes]:
    """One topic, the metadata log, with many partitions."""
    topic = start + b"\2" + compact(frames.METADATA_TOPIC)
    return _dense(api_key, version, topic, partition, b"\0" + end)


DENSE: dict[str, Callable[[int], bytes]] = {
    "AlterClientQuotas": _dense(frames.ALTER_CLIENT_QUOTAS, 1, b"", EMPTY, b"\0\0"),
    "CreatePartitions": _dense(
        frames.CREATE_PARTITIONS, 3, b"\2" + compact(b"a") + INT32, b"\1\0", b"\0" + INT32 + b"\0\0"
    ),
    "AlterPartition": _dense(frames.ALTER_PARTITION, 1, INT32 + ZERO64, EMPTY, b"\0"),
    "AlterPartition, partitions": _dense(
        frames.ALTER_PARTITION,
        3,
        INT32 + ZERO64 + b"\2" + b"\7" * 16,
        INT32 * 2 + b"\1\0" + INT32 + b"\0",
        b"\0\0",
    ),
    "Fetch": _dense(frames.FETCH, 12, INT32 * 4 + b"\0" + INT32 * 2, EMPTY, b"\1\1\0"),
    "Fetch, forgotten topics": _dense(
        frames.FETCH, 12, INT32 * 4 + b"\0" + INT32 * 2 + b"\1", EMPTY, b"\1\0"
    ),
    "Vote": _dense(frames.VOTE, 0, b"\0", EMPTY, b"\0"),
    "BeginQuorumEpoch": _dense(frames.BEGIN_QUORUM_EPOCH, 1, b"\0" + INT32, EMPTY, b"\1\0"),
    "BeginQuorumEpoch, endpoints": _dense(
        frames.BEGIN_QUORUM_EPOCH, 1, b"\0" + INT32 + b"\1", b"\1\1\0\0\0", b"\0"
    ),
    "EndQuorumEpoch": _dense(frames.END_QUORUM_EPOCH, 1, b"\0", EMPTY, b"\1\0"),
    "DescribeQuorum": _dense(frames.DESCRIBE_QUORUM, 0, b"", EMPTY, b"\0"),
    "DescribeQuorum, partitions": _partitions(frames.DESCRIBE_QUORUM, 0, b"", INT32 + b"\0", b"\0"),
    "FetchSnapshot": _dense(frames.FETCH_SNAPSHOT, 0, INT32 * 2, EMPTY, b"\0"),
    "ElectLeaders": _dense(frames.ELECT_LEADERS, 2, b"\0", EMPTY, INT32 + b"\0"),
    "ElectLeaders, partitions": _dense(frames.ELECT_LEADERS, 2, b"\0\2\1", INT32, b"\0" + INT32 + b"\0"),
    "AlterPartitionReassignments, partitions": _dense(
        frames.ALTER_PARTITION_REASSIGNMENTS, 0, INT32 + b"\2\1", INT32 + b"\0\0", b"\0\0"
    ),
    "AlterPartitionReassignments": _dense(frames.ALTER_PARTITION_REASSIGNMENTS, 0, INT32, EMPTY, b"\0"),
    "ListPartitionReassignments": _dense(frames.LIST_PARTITION_REASSIGNMENTS, 0, INT32, EMPTY, b"\0"),
    "IncrementalAlterConfigs": _dense(frames.INCREMENTAL_ALTER_CONFIGS, 1, b"", b"\2\1\1\0", b"\1\0"),
    "IncrementalAlterConfigs, of one resource": _dense(
        frames.INCREMENTAL_ALTER_CONFIGS, 1, b"\2\4\1", b"\1\0\1\0", b"\0\1\0"
    ),
    "AlterConfigs": _dense(frames.ALTER_CONFIGS, 2, b"", b"\2\1\1\0", b"\1\0"),
    "DescribeConfigs": _dense(frames.DESCRIBE_CONFIGS, 4, b"", b"\2\1\1\0", b"\0\0\0"),
    "CreateTopics": _dense(frames.CREATE_TOPICS, 7, b"", b"\1" + INT32 + b"\0\1\1\1\0", INT32 + b"\0\0"),
    "CreateTopics, assignments": _dense(
        frames.CREATE_TOPICS, 7, b"\2\2a" + INT32 + b"\0\1", INT32 + b"\1\0", b"\1\0" + INT32 + b"\0\0"
    ),
    "CreateAcls": _dense(frames.CREATE_ACLS, 3, b"", b"\2\1\3\1\1\2\3\0", b"\0"),
    "DeleteAcls": _dense(frames.DELETE_ACLS, 3, b"", b"\2\1\3\1\1\2\3\0", b"\0"),
    "UpdateFeatures": _dense(frames.UPDATE_FEATURES, 1, INT32, b"\1\0\1\1\0", b"\1\0"),
    "AlterUserScramCredentials": _dense(frames.ALTER_USER_SCRAM_CREDENTIALS, 0, b"", b"\1\1\0", b"\1\0"),
    "AssignReplicasToDirs": _dense(
        frames.ASSIGN_REPLICAS_TO_DIRS, 0, INT32 + ZERO64 + b"\2" + bytes(16), bytes(16) + b"\1\0", b"\0\0"
    ),
    "DeleteTopics": _dense(frames.DELETE_TOPICS, 5, b"", b"\1", INT32 + b"\0"),
}
"""By name: the payload of a request of about so many bytes."""


def names_to_delete(count: int) -> bytes:
    """DeleteTopics, version 5, of different names: each is checked against the ACLs."""
    names = compact_array([compact(b"no-such-topic-%06d" % number) for number in range(count)])
    return request(frames.DELETE_TOPICS, 5, names + INT32 + b"\0")


def tags(size_bytes: int) -> bytes:
    """A section of unknown tagged fields without content, in ascending order."""
    fields = []
    left = size_bytes
    number = 1000
    while left > 0:
        field = frames.uvarint(number) + b"\0"
        fields.append(field)
        left -= len(field)
        number += 1
    return frames.uvarint(len(fields)) + b"".join(fields)
