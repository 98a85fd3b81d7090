"""Writes records as the batches of a checkpoint file: header batch, data batches, footer batch (KIP-630).

The same frame serves snapshots of the image, the 0-0 checkpoint of a formatted dynamic quorum (KIP-853) and
bootstrap.checkpoint. Offsets inside the file count from 0 and are not those of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch

RECORDS_PER_BATCH_MAX: Final = 1024
"""Kafka's RecordsSnapshotWriter has the same limit: batches are small enough to decode in one step."""

BATCH_BYTES_MAX: Final = 8 * 1024 * 1024
"""Kafka's readers have buffers of this size and refuse larger batches."""


class SnapshotBatches:
    """Turns records into batches, slice by slice.

    Call `header`, then `records` as often as needed, then `footer`; the bytes that each of them returns, in
    order, are the file.
    """

    def __init__(self, epoch: int, wall_ms: int) -> None:
        self._epoch = epoch
        self._wall_ms = wall_ms
        self._next_offset = 0

    def header(
        self, last_contained_log_timestamp_ms: int, kraft_version: int = 0, voters: VotersRecord | None = None
    ) -> bytes:
        """Returns the first batch; `voters` belongs to kraft.version 1 and later only."""
        assert voters is None or kraft_version >= 1, "a voter set needs kraft.version 1"
        header = SnapshotHeaderRecord(last_contained_log_timestamp=last_contained_log_timestamp_ms)
        messages: list[Message] = [header]
        if kraft_version >= 1:
            messages.append(KRaftVersionRecord(kraft_version=kraft_version))
        if voters is not None:
            messages.append(voters)
        return self._control(messages)

    def records(self, records: Iterable[RecordAndVersion]) -> Iterator[bytes]:
        """Yields data batches of at most RECORDS_PER_BATCH_MAX records and BATCH_BYTES_MAX bytes."""
        return self.values([encode_metadata_record(each.record, each.version) for each in records])

    def values(self, encoded: Iterable[bytes]) -> Iterator[bytes]:
        """Yields data batches of encoded records, with the limits of `records`."""
        values: list[bytes] = []
        size_bytes = 0
        for value in encoded:
            if values and (
                len(values) == RECORDS_PER_BATCH_MAX or size_bytes + len(value) > BATCH_BYTES_MAX // 2
            ):
                yield self._data(values)
                values = []
                size_bytes = 0
            values.append(value)
            size_bytes += len(value)
        if values:
            yield self._data(values)

    def footer(self) -> bytes:
        return self._control([SnapshotFooterRecord()])

    def _data(self, values: list[bytes]) -> bytes:
        batch = encode_batch(self._next_offset, self._epoch, self._wall_ms, values)
        self._next_offset += len(values)
        return batch

    def _control(self, messages: list[Message]) -> bytes:
        encoded = [encode_control_record(message) for message in messages]
        batch = encode_control_batch(self._next_offset, self._epoch, self._wall_ms, encoded)
        self._next_offset += len(encoded)
        return batch
