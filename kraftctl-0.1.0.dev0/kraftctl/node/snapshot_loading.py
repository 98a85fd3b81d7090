"""SnapshotLoading: a snapshot becomes an image, a part of the file and some records at a time.

The image is built aside. Who reads the metadata, the authorizer, the credentials of users and tokens, the
registration of this node, sees the one before until the new one is whole: half of the ACLs would allow what
the other half denies. A standby that starts over, because the log that it needs is gone, has both for that
time.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from kraftctl.controller.committed_records import undecodable_batch
from kraftctl.controller.committed_replay import CommittedReplay
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.node.events import END_OF_SNAPSHOT, ReadSnapshot, SnapshotRead
from kraftctl_protocol.batch_framing import base_offset_at
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batch_header

PART_BYTES: Final = 1024 * 1024
"""Read at a time: the storage thread checks it in a millisecond, some turns of the loop replay it."""

PARTS_MAX: Final = 2
"""One is replayed while the next is read."""


class SnapshotLoading:
    """The parts of `snapshot_id` that were read, and how far they are replayed. `file` is named in errors."""

    def __init__(
        self, snapshot_id: OffsetAndEpoch, *, replay: CommittedReplay, file: str, size_bytes: int
    ) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = size_bytes
        self.replayed_bytes = 0
        """The bytes of the file that are replayed; a batch counts when all of it is."""
        self._replay = replay
        self._file = file
        self._parts: deque[bytes] = deque()
        self._position = 0
        """In the first part."""
        self._batch_bytes = 0
        """The size of the batch that is being replayed; 0 between batches."""
        self._next_position = 0
        self._is_reading = False

    @property
    def image(self) -> MetadataImage:
        """Whole when `is_whole`; it is not looked at before."""
        return self._replay.image

    @property
    def has_data(self) -> bool:
        """Whether there is something to replay."""
        return len(self._parts) > 0

    @property
    def is_whole(self) -> bool:
        return not self._parts and self._next_position == END_OF_SNAPSHOT

    def read_next(self) -> ReadSnapshot | None:
        """What to read now, if anything; the response goes to `add`."""
        if self._is_reading or self._next_position == END_OF_SNAPSHOT or len(self._parts) >= PARTS_MAX:
            return None
        self._is_reading = True
        return ReadSnapshot(self.snapshot_id, self._next_position, PART_BYTES)

    def add(self, event: SnapshotRead) -> None:
        """A part was read. One of another snapshot, or from elsewhere, was asked for by a load that ended."""
        if event.snapshot_id != self.snapshot_id or event.position != self._next_position:
            return
        self._is_reading = False
        self._next_position = event.next_position
        self._parts.append(event.data)

    def replay_some(self, count_max: int) -> int:
        """Replays at most this many more records of what was read. Returns how many; UnusableRecordError."""
        before = self._replay.spent
        while self._parts:
            left = count_max - (self._replay.spent - before)
            if left <= 0:
                break
            if self._batch_bytes == 0:
                self._begin_batch()
            elif self._replay.replay_some(left):
                self._end_batch()
        return self._replay.spent - before

    def _begin_batch(self) -> None:
        data = self._parts[0]
        try:
            header = read_batch_header(data, self._position)
        except DecodeError as error:
            base_offset = base_offset_at(data, self._position)
            raise undecodable_batch(self._file, base_offset, error) from error
        self._batch_bytes = header.size_bytes
        if header.is_control:
            self._end_batch()
        else:
            self._replay.begin(data, self._position, header, self._file)

    def _end_batch(self) -> None:
        self._position += self._batch_bytes
        self.replayed_bytes += self._batch_bytes
        self._batch_bytes = 0
        if self._position >= len(self._parts[0]):
            self._parts.popleft()
            self._position = 0
