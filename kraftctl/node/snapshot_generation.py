"""KIP-630: when a node writes a snapshot of its image, and the snapshot itself, encoded in slices."""

from __future__ import annotations

from kraftctl.controller.failures import pause_ms
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

RECORDS_PER_SLICE = 1024
"""Encoded in one turn of the loop: some milliseconds of work."""


class SnapshotPolicy:
    """As Kafka's SnapshotGenerator: after `record_bytes_max` of committed batches, or `interval_ms` after the
    last snapshot.

    With `interval_ms` 0, time alone never makes a snapshot due.
    """

    def __init__(self, record_bytes_max: int, interval_ms: int) -> None:
        self._record_bytes_max = record_bytes_max
        self._interval_ms = interval_ms
        self._bytes = 0
        self._last_ms = -1
        self._failure_count = 0
        self._retry_ms = 0

    def note(self, batch_bytes: int) -> None:
        """A batch was added to the log or read from it."""
        self._bytes += batch_bytes

    def is_due(self, now_ms: int) -> bool:
        """Whether a snapshot is due; time counts from the first call."""
        if self._last_ms < 0:
            self._last_ms = now_ms
        if self._failure_count > 0:
            return now_ms >= self._retry_ms
        if self._bytes == 0:
            return False
        expired = 0 < self._interval_ms <= now_ms - self._last_ms
        return expired or self._bytes >= self._record_bytes_max

    def began(self, now_ms: int) -> None:
        self._bytes = 0
        self._last_ms = now_ms

    def succeeded(self) -> None:
        """The snapshot is complete."""
        self._failure_count = 0

    def failed(self, now_ms: int) -> int:
        """The snapshot could not be generated. Returns when it is retried."""
        self._failure_count += 1
        self._retry_ms = now_ms + pause_ms(self._failure_count)
        return self._retry_ms


class SnapshotInProgress:
    """The image as of `snapshot_id`, encoded while the image changes: call `write_slice` until it is True."""

    def __init__(
        self,
        image: MetadataImage,
        snapshot_id: OffsetAndEpoch,
        *,
        wall_ms: int,
        kraft_version: int,
        voters: VotersRecord | None,
    ) -> None:
        self.snapshot_id = snapshot_id
        self.batches: list[bytes] = []
        self._wall_ms = wall_ms
        self._kraft_version = kraft_version
        self._voters = voters
        self._writer = ImageWriter(image, snapshot_id.offset)
        self._encoder = SnapshotBatches(snapshot_id.epoch, wall_ms)

    def write_slice(self) -> bool:
        """Encode more records. Returns True when `batches` is the whole snapshot."""
        if not self.batches:
            self.batches.append(self._encoder.header(self._wall_ms, self._kraft_version, self._voters))
        records = self._writer.next_records(RECORDS_PER_SLICE)
        if records:
            self.batches += self._encoder.records(records)
            return False
        self.batches.append(self._encoder.footer())
        self.abandon()
        return True

    def abandon(self) -> None:
        """Give up the snapshot: the image need not keep old values for it."""
        self._writer.close()
