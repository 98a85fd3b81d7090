"""The size of a batch of the metadata log: a batch is written, fetched and replayed as a whole.

Kafka's BatchAccumulator raises RecordBatchTooLargeException for a batch that is larger. Its controller then
resigns; here the request, or the timer, is refused before anything is appended.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from kraftctl_protocol.batch_framing import HEADER_BYTES

RECORDS_PER_BATCH_MAX: Final = 10_000
"""As Kafka's QuorumController.MAX_RECORDS_PER_BATCH: one request may not stall the log."""

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""The value is that of Kafka's KafkaRaftClient.MAX_BATCH_SIZE_BYTES."""

RECORD_OVERHEAD_BYTES: Final = 21
"""Length, attributes, timestamp, offset and key around a value, at their longest."""


def batch_ends(values: list[bytes]) -> list[int]:
    """The end index of each batch that the encoded records are cut into; none without records."""
    ends: list[int] = []
    index: i64 = 0
    start: i64 = 0
    size: i64 = HEADER_BYTES
    for value in values:
        record_size: i64 = RECORD_OVERHEAD_BYTES + len(value)
        if index > start and (index - start >= RECORDS_PER_BATCH_MAX or size + record_size > BATCH_BYTES_MAX):
            ends.append(index)
            start = index
            size = HEADER_BYTES
        size += record_size
        index += 1
    if index > 0:
        ends.append(index)
    return ends


def why_batch_too_large(values: list[bytes]) -> str | None:
    """Why the encoded records cannot be one batch; None if they can."""
    count = len(values)
    if count > RECORDS_PER_BATCH_MAX:
        return f"{count} records are more than a batch can have, {RECORDS_PER_BATCH_MAX}"
    size = HEADER_BYTES + RECORD_OVERHEAD_BYTES * count + total_bytes(values)
    if size > BATCH_BYTES_MAX:
        return f"a batch of {size} bytes is larger than {BATCH_BYTES_MAX} bytes"
    return None


def total_bytes(values: list[bytes]) -> int:
    """The bytes of all values together."""
    size: i64 = 0
    for value in values:
        size += len(value)
    return size
