"""The limits of the requests of an API: in bytes, and in memory once they are decoded.

A request with more bytes than its API allows is refused from its first bytes; one that would take more
memory, before that is allocated. Sizes follow from what brokers and tools of Kafka send, several times over:
a broker that is refused would never register, or never shrink its ISRs.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * 1024

DECODED_ON_LOOP_BYTES_MAX: Final = 64 * KIB
"""Longer requests are decoded beside the loop. This many bytes take it 10 ms at the worst, and have an
AlterPartition of a thousand partitions."""

REFUSAL_MEMORY_BYTES_MAX: Final = 1 * MIB
"""The memory of a longer request that is refused from its header, if the response repeats names of the
body."""

LARGE_REQUESTS_MEMORY_BYTES_MAX: Final = 192 * MIB
"""The memory of all requests of more than `DECODED_ON_LOOP_BYTES_MAX` that wait for responses; the next
is decoded when there is room."""

RESPONSE_ENTRIES_MAX: Final = 100_000
"""The entries of a response: ACLs, configurations, results of partitions. More is refused with
POLICY_VIOLATION where the response has a place for it; otherwise the connection is closed."""


class RequestSize:
    """The limits: bytes of the whole request, and memory of its body."""

    def __init__(self, frame_bytes_max: int, memory_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self.memory_bytes_max = memory_bytes_max


SMALL: Final = RequestSize(64 * KIB, 512 * KIB)
"""This size fits one partition and its voters, one broker and 4,000 log directories, or a few fields.
The longest client id takes 32 KiB of it."""

REGISTRATION: Final = RequestSize(256 * KIB, 2 * MIB)
"""This size fits listeners, features and log directories of one node, or the renewers of one token."""

TOKEN: Final = RequestSize(80 * KIB, 512 * KIB)
"""This size fits one token of SASL: the longest may have 64 KiB. See kraftctl_security.sasl.sasl_config."""

CHANGES: Final = RequestSize(16 * MIB, 32 * MIB)
"""This size fits the changes of tools: Kafka makes at most 10,000 records of one such request. 10,000
topics with two configurations each take 10 MiB."""

PARTITIONS: Final = RequestSize(32 * MIB, 128 * MIB)
"""A broker with 100,000 partitions, each of a topic of its own and with three replicas, alters all of their
ISRs in 8 MB that take 80; one request reassigns fewer, in less."""

ENVELOPE: Final = RequestSize(100 * MIB + 128 * KIB, 100 * MIB + 512 * KIB)
"""The longest request that a broker accepts and forwards (`socket.request.max.bytes`), with principal and
address. It has the limits of its own API; beyond them the envelope is answered, as a broker repeats for a
minute what closes its connection, and forwards nothing else meanwhile."""
