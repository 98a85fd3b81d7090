"""The limits of what another node's responses may make a client do: sizes, epochs, addresses, times.

A node that this one has asked may be hostile, or damaged: the leader of a follower, the controllers of the
exporter, the nodes that a tool asks. All of them use these checks. A response is bounded by what was asked
for, before it is received; what it says is bounded by what an honest node can say. `snapshot_progress` has
the checks of a download.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.message import Message

RESPONSE_BYTES_MAX: Final = 1024 * 1024
"""A response without records: the nodes and observers of thousands of brokers, the APIs of one release. As
much may stand around records."""

LISTING_BYTES_MAX: Final = 32 * 1024 * 1024
"""All topics, ACLs or quotas of a cluster: a partition takes some 50 bytes, an ACL 100."""

LISTING_REQUESTS: Final = frozenset(
    (
        "DescribeAclsRequest",
        "DescribeClientQuotasRequest",
        "DescribeConfigsRequest",
        "DescribeUserScramCredentialsRequest",
        "ListConfigResourcesRequest",
        "MetadataRequest",
    )
)
"""What is asked of a cluster that the user of a client names; no node sends them to another one."""

RESPONSE_MEMORY_BYTES_MAX: Final = 1024 * 1024
"""The memory that a peer's response may take besides its bytes: it has one partition, or the APIs of one
release."""

LISTING_MEMORY_PER_BYTE: Final = 32
"""A small partition takes this much more memory, decoded, than bytes."""

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""As Kafka's KafkaRaftClient.MAX_BATCH_SIZE_BYTES. A leader sends its first batch whole, and Kafka's before
4.3 this much whatever was asked for."""

SNAPSHOT_BYTES_MAX: Final = 8 * 1024 * 1024 * 1024
"""A controller holds in memory what a snapshot has: none is as large as this."""

RESERVED_BYTES: Final = 64 * 1024 * 1024
"""The room on a disk that a download leaves. Of a small disk, a tenth of what is free."""

EPOCH_MAX: Final = (1 << 31) - 2
"""No election can follow this epoch, because epochs are int32."""

EPOCH_WITHOUT_DOUBT_MAX: Final = 1 << 30
"""No quorum has this many elections: up to here any epoch is accepted."""

EPOCH_JUMP_MAX: Final = 1_000
"""Above that an epoch may be this far ahead of the known one: an int32 must not be used up by a few
messages."""

HOST_BYTES_MAX: Final = 255
"""A name in DNS is not longer (RFC 1035)."""

PORT_MAX: Final = 65_535

CLUSTER_ID_BYTES_MAX: Final = 255
"""Kafka's cluster ids have 22 characters; those of other tools are names."""


def response_bytes_max(request: Message) -> int:
    """Returns the largest size of a response to this request, in bytes, with its header."""
    if isinstance(request, FetchRequest):
        return max(0, request.max_bytes) + BATCH_BYTES_MAX + RESPONSE_BYTES_MAX
    if isinstance(request, FetchSnapshotRequest):
        return max(0, request.max_bytes) + RESPONSE_BYTES_MAX
    return LISTING_BYTES_MAX if request.NAME in LISTING_REQUESTS else RESPONSE_BYTES_MAX


def response_memory_bytes_max(request_name: str, size_bytes: int) -> int:
    """Returns the memory that a response of this size may take, decoded."""
    if request_name in LISTING_REQUESTS:
        return RESPONSE_MEMORY_BYTES_MAX + LISTING_MEMORY_PER_BYTE * size_bytes
    return RESPONSE_MEMORY_BYTES_MAX + size_bytes


def uses_epochs_up(known_epoch: int, epoch: int) -> bool:
    """Returns whether joining `epoch` could leave too few int32 epochs for later elections."""
    if epoch <= EPOCH_WITHOUT_DOUBT_MAX:
        return False
    return epoch > EPOCH_MAX or epoch - known_epoch > EPOCH_JUMP_MAX


def is_address(host: str, port: int) -> bool:
    """Returns whether a node may listen there: HOST_BYTES_MAX printable bytes or less, and a port.

    Others name any text and any int32.
    """
    if not 0 < port <= PORT_MAX or not 0 < len(host) <= HOST_BYTES_MAX:
        return False
    return host.isprintable() and " " not in host and len(host.encode()) <= HOST_BYTES_MAX


def is_cluster_id(text: str) -> bool:
    """Returns whether this may be the id of a cluster."""
    return 0 < len(text) <= CLUSTER_ID_BYTES_MAX and text.isprintable()


def bounded_ms(duration_ms: int, duration_ms_max: int) -> int:
    """Returns the duration that a node asks for, within what this one grants."""
    return min(max(0, duration_ms), duration_ms_max)


def has_room(size_bytes: int, free_bytes: int) -> bool:
    """Returns whether a download of this size fits where `free_bytes` are left."""
    return size_bytes <= free_bytes - min(RESERVED_BYTES, free_bytes // 10)
