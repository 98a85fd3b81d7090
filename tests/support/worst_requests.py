"""Hand-made requests that decode to the most memory per byte: each repeats the smallest element of an array.

No codec of ours writes them. What is here is also where the fuzzers and the attacks begin.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_protocol.api_keys import ApiKey

ELEMENTS_MAX = 1_000_000
"""More in one array are refused for their number alone."""


@dataclass(frozen=True)
class WorstRequest:
    """The body is `start`, a compact array of as many `element` as are wanted, `end`."""

    api_key: ApiKey
    version: int
    element: bytes
    start: bytes = b""
    end: bytes = b""

    @property
    def name(self) -> str:
        return f"{self.api_key.name}-v{self.version}"

    def body(self, count: int) -> bytes:
        return self.start + uvarint(count + 1) + self.element * count + self.end

    def body_of_bytes(self, size_bytes: int) -> bytes:
        """As many elements as fit, and may be in one array."""
        return self.body(min(ELEMENTS_MAX, size_bytes // len(self.element)))

    def payload(self, count: int, correlation_id: int = 7) -> bytes:
        """The request with a header of version 2, without the frame's size."""
        return self.header(correlation_id) + self.body(count)

    def header(self, correlation_id: int = 7) -> bytes:
        start = int(self.api_key).to_bytes(2, "big") + self.version.to_bytes(2, "big")
        return start + correlation_id.to_bytes(4, "big") + b"\xff\xff" + b"\x00"


def uvarint(value: int) -> bytes:
    data = b""
    while value >= 0x80:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


TOPIC = b"\x01\x01\x00"
"""No name, no partitions, no tags."""

TOPIC_WITH_ID = bytes(16) + b"\x01\x00"
RESOURCE = b"\x02\x01\x01\x00"
"""Type 2, no name, no configurations."""

WORST_REQUESTS = (
    WorstRequest(ApiKey.FETCH, 12, TOPIC, start=bytes(25), end=b"\x01\x01\x00"),
    WorstRequest(ApiKey.FETCH, 17, TOPIC_WITH_ID, start=bytes(21), end=b"\x01\x01\x00"),
    WorstRequest(ApiKey.CREATE_TOPICS, 7, b"\x01" + bytes(6) + b"\x01\x01\x00", end=bytes(6)),
    WorstRequest(ApiKey.DELETE_TOPICS, 6, bytes(18), end=bytes(5)),
    WorstRequest(ApiKey.CREATE_ACLS, 3, b"\x02\x01\x03\x01\x01\x03\x03\x00", end=b"\x00"),
    WorstRequest(ApiKey.DELETE_ACLS, 3, b"\x01\x00\x01\x00\x00\x01\x01\x00", end=b"\x00"),
    WorstRequest(ApiKey.DESCRIBE_CONFIGS, 4, RESOURCE, end=bytes(3)),
    WorstRequest(ApiKey.ALTER_CONFIGS, 2, RESOURCE, end=bytes(2)),
    WorstRequest(ApiKey.CREATE_PARTITIONS, 3, b"\x01" + bytes(4) + b"\x01\x00", end=bytes(6)),
    WorstRequest(ApiKey.ELECT_LEADERS, 2, TOPIC, start=b"\x00", end=bytes(5)),
    WorstRequest(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, RESOURCE, end=bytes(2)),
    WorstRequest(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, TOPIC, start=bytes(4), end=b"\x00"),
    WorstRequest(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, TOPIC, start=bytes(4), end=b"\x00"),
    WorstRequest(ApiKey.ALTER_CLIENT_QUOTAS, 1, TOPIC, end=bytes(2)),
    WorstRequest(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, b"\x01\x00\x00", end=b"\x01\x00"),
    WorstRequest(ApiKey.VOTE, 2, TOPIC, start=b"\x01" + bytes(4), end=b"\x00"),
    WorstRequest(ApiKey.BEGIN_QUORUM_EPOCH, 1, TOPIC, start=b"\x01" + bytes(4), end=b"\x01\x00"),
    WorstRequest(ApiKey.END_QUORUM_EPOCH, 1, TOPIC, start=b"\x01", end=b"\x01\x00"),
    WorstRequest(ApiKey.DESCRIBE_QUORUM, 2, TOPIC, end=b"\x00"),
    WorstRequest(ApiKey.ALTER_PARTITION, 1, TOPIC, start=bytes(12), end=b"\x00"),
    WorstRequest(ApiKey.ALTER_PARTITION, 3, TOPIC_WITH_ID, start=bytes(12), end=b"\x00"),
    WorstRequest(ApiKey.UPDATE_FEATURES, 1, b"\x01\x00\x00\x00\x00", start=bytes(4), end=bytes(2)),
    WorstRequest(ApiKey.FETCH_SNAPSHOT, 1, TOPIC, start=bytes(8), end=b"\x00"),
    WorstRequest(
        ApiKey.BROKER_REGISTRATION,
        4,
        b"\x01\x01" + bytes(5),
        start=bytes(4) + b"\x01" + bytes(16),
        end=b"\x01\x00\x00" + b"\x01" + bytes(8) + b"\x00",
    ),
    WorstRequest(
        ApiKey.CONTROLLER_REGISTRATION,
        0,
        b"\x01\x01" + bytes(5),
        start=bytes(4) + bytes(16) + b"\x00",
        end=b"\x01\x00",
    ),
    WorstRequest(ApiKey.ASSIGN_REPLICAS_TO_DIRS, 0, TOPIC_WITH_ID, start=bytes(12), end=b"\x00"),
    WorstRequest(
        ApiKey.ADD_RAFT_VOTER, 1, b"\x01\x01\x00\x00\x00", start=b"\x01" + bytes(24), end=b"\x00\x00"
    ),
    WorstRequest(ApiKey.CREATE_DELEGATION_TOKEN, 3, TOPIC, start=b"\x00\x00", end=bytes(9)),
)
"""At least one for each API whose request has arrays of structs."""
