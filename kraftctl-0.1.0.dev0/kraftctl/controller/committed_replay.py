"""CommittedReplay applies committed batches to an image, a limited number of records at a time."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from kraftctl.controller.committed_records import (
    DOES_NOT_FIT,
    decode_committed,
    does_not_fit,
    undecodable_batch,
)
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.partition_records import PartitionRecords
from kraftctl.image.replay import replay
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import BatchHeader, records_of
from kraftctl_protocol.record_cursor import NULL, RecordCursor

OFFSET_IN_FILE: Final = -1
"""Records of the log have the offset in their batch; those of a snapshot all have that of the last in it."""


class CommittedReplay:
    """Replays one batch at a time: `begin` it, then call `replay_some` until it returns True."""

    def __init__(
        self,
        image: MetadataImage,
        supported_features: dict[str, VersionRange],
        last_contained_offset: int = OFFSET_IN_FILE,
    ) -> None:
        self.image = image
        self.spent = 0
        """The number of records replayed, of all batches."""
        self.decoded = 0
        """The number of those that became messages."""
        self._supported = supported_features
        self._last_contained_offset = last_contained_offset
        self._partitions = PartitionRecords(image)
        self._file = ""
        self._base_offset = 0
        self._cursor = RecordCursor(b"", 0, 0, 0)

    def begin(self, buffer: bytes, position: int, header: BatchHeader, file: str) -> None:
        """Starts the data batch of `file` that is at `position` of `buffer`."""
        self._file = file
        self._base_offset = header.base_offset
        self._cursor = records_of(buffer, position, header)

    def replay_some(self, count_max: int) -> bool:
        """Replays up to that many more records. True: there are no more. Raises UnusableRecordError."""
        cursor = self._cursor
        partitions = self._partitions
        left: i64 = count_max
        try:
            while left > 0:
                if not cursor.advance():
                    return True
                left -= 1
                if cursor.key_start != NULL or not partitions.take(
                    cursor.buffer, cursor.value_start, cursor.value_end
                ):
                    self._replay_decoded(cursor)
        except DecodeError as error:
            raise undecodable_batch(self._file, self._base_offset, error) from error
        finally:
            self.spent += count_max - int(left)
        return False

    def _replay_decoded(self, cursor: RecordCursor) -> None:
        self.decoded += 1
        offset = self._base_offset + int(cursor.index)
        record = decode_committed(cursor.key(), cursor.value(), offset, self._file, self._supported)
        as_of = offset if self._last_contained_offset == OFFSET_IN_FILE else self._last_contained_offset
        try:
            replay(self.image, record, as_of)
        except DOES_NOT_FIT as error:
            raise does_not_fit(self._file, offset, record, error) from error
        self._partitions.replayed(record)
