"""How much may be in one batch of the metadata log: a batch is written, fetched and replayed in one piece."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record

RECORDS_PER_BATCH_MAX: Final = 10_000
"""As Kafka's QuorumController.MAX_RECORDS_PER_BATCH: one request may not stall the log."""

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""As Kafka's KafkaRaftClient.MAX_BATCH_SIZE_BYTES."""

BATCH_HEADER_BYTES: Final = 61

RECORD_OVERHEAD_BYTES: Final = 21
"""Length, attributes, timestamp, offset and key around a value, at their longest."""

SURELY_SMALL_COUNT: Final = 64
"""So few records fit whatever they are: none has room for more than three strings of 32 KiB."""


def batch_ends(records: list[RecordAndVersion]) -> list[int]:
    """Where to cut `records`: the end index of each batch, none without records."""
    count = len(records)
    if count <= SURELY_SMALL_COUNT:
        return [count] if count > 0 else []
    ends: list[int] = []
    start = 0
    size = BATCH_HEADER_BYTES
    for index in range(count):
        entry = records[index]
        record_size = RECORD_OVERHEAD_BYTES + len(encode_metadata_record(entry.record, entry.version))
        if index > start and (index - start >= RECORDS_PER_BATCH_MAX or size + record_size > BATCH_BYTES_MAX):
            ends.append(index)
            start = index
            size = BATCH_HEADER_BYTES
        size += record_size
    ends.append(count)
    return ends
