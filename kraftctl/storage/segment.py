"""One segment of the metadata log: a `.log` file of record batches with its two sparse indexes."""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from kraftctl.storage.batch_scan import LENGTH_END, BatchPlace
from kraftctl.storage.durable_files import write_all_at
from kraftctl.storage.errors import StorageError
from kraftctl.storage.offset_index import INDEX_BYTES_MAX, INDEX_INTERVAL_BYTES, OffsetIndex
from kraftctl.storage.time_index import NO_TIMESTAMP, TimeIndex

LOG_SUFFIX = ".log"
INDEX_SUFFIX = ".index"
TIME_INDEX_SUFFIX = ".timeindex"
DELETED_SUFFIX = ".deleted"

RELATIVE_OFFSET_MAX = 2**31 - 1
"""An index entry stores offsets as int32 relative to the segment's base offset."""

TAIL_BATCHES_MAX = 4096
"""How many of the newest batches have their exact place in memory: followers read near the end."""

_WALK_BYTES = 16 * 1024
_OFFSET_AND_LENGTH = struct.Struct(">qi")


def segment_file_name(base_offset: int, suffix: str) -> str:
    return f"{base_offset:020d}{suffix}"


class Segment:
    """Bytes are trusted here: recovery and append have checked every batch before it is `remembered`."""

    def __init__(self, directory: Path, base_offset: int, index_bytes_max: int = INDEX_BYTES_MAX) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.path = directory / segment_file_name(base_offset, LOG_SUFFIX)
        self.size_bytes = 0
        self.end_offset = base_offset
        self.needs_flush = False
        self.first_timestamp_ms = NO_TIMESTAMP
        self._max_timestamp_ms = NO_TIMESTAMP
        self._offset_of_max_timestamp = base_offset
        self._bytes_since_index_entry = 0
        self._tail_offsets: list[int] = []
        self._tail_positions: list[int] = []
        self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        self.offset_index = OffsetIndex(
            directory / segment_file_name(base_offset, INDEX_SUFFIX), base_offset, index_bytes_max
        )
        self.time_index = TimeIndex(
            directory / segment_file_name(base_offset, TIME_INDEX_SUFFIX), base_offset, index_bytes_max
        )

    def append(self, batches: bytes, places: list[BatchPlace]) -> None:
        """Write `batches`, whose `places` are relative to their own start, at the end of the file.

        After an OSError the caller must `cut_back`: some of it may have been written.
        """
        start = self.size_bytes
        write_all_at(self.descriptor, batches, start)
        for place in places:
            self._note(place, start + place.position, into_files=True)
        self.size_bytes = start + len(batches)
        self.end_offset = places[-1].last_offset + 1
        self.needs_flush = True

    def remember(self, place: BatchPlace) -> None:
        """Take in a batch that recovery found in the file, at `place.position` of it."""
        self._note(place, place.position, into_files=False)
        self.size_bytes = place.position + place.size_bytes
        self.end_offset = place.last_offset + 1

    def _note(self, place: BatchPlace, position: int, into_files: bool) -> None:
        if place.max_timestamp_ms > self._max_timestamp_ms:
            self._max_timestamp_ms = place.max_timestamp_ms
            self._offset_of_max_timestamp = place.last_offset
        if self.first_timestamp_ms == NO_TIMESTAMP:
            self.first_timestamp_ms = place.max_timestamp_ms
        if self._bytes_since_index_entry > INDEX_INTERVAL_BYTES:
            if into_files:
                self.offset_index.append(place.last_offset, position)
                self.time_index.append(self._max_timestamp_ms, self._offset_of_max_timestamp)
            else:
                self.offset_index.remember(place.last_offset, position)
                self.time_index.remember(self._max_timestamp_ms, self._offset_of_max_timestamp)
            self._bytes_since_index_entry = 0
        self._bytes_since_index_entry += place.size_bytes
        self._tail_offsets.append(place.base_offset)
        self._tail_positions.append(position)
        if len(self._tail_offsets) > 2 * TAIL_BATCHES_MAX:
            del self._tail_offsets[:TAIL_BATCHES_MAX]
            del self._tail_positions[:TAIL_BATCHES_MAX]

    def has_room_for(self, places: list[BatchPlace], segment_bytes: int, segment_ms: int) -> bool:
        """Whether Kafka would append these batches here instead of rolling a new segment."""
        if self.size_bytes == 0:
            return True
        appended_bytes = places[-1].position + places[-1].size_bytes
        return (
            self.size_bytes + appended_bytes <= segment_bytes
            and places[-1].last_offset - self.base_offset <= RELATIVE_OFFSET_MAX
            and places[-1].max_timestamp_ms - self.first_timestamp_ms <= segment_ms
            and not self.offset_index.is_full()
            and not self.time_index.is_full()
        )

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Whole batches from the one that contains `offset`: at most `max_bytes`, but at least one batch."""
        position, batch_size = self.find_batch(offset)
        limit = position + max_bytes
        if limit >= self.size_bytes:
            end = self.size_bytes
        else:
            end = max(self._last_boundary(limit), position + batch_size)
        data = os.pread(self.descriptor, end - position, position)
        if len(data) != end - position:
            raise StorageError(
                f"{self.path} lost bytes while in use: {end - position} bytes expected at byte {position},"
                f" {len(data)} found. Next step: stop this node and find out who changed the file."
            )
        return data

    def find_batch(self, offset: int) -> tuple[int, int]:
        """(position, size) of the batch that contains `offset`, which must lie in this segment."""
        if self._tail_offsets and offset >= self._tail_offsets[0]:
            at = bisect_right(self._tail_offsets, offset) - 1
            position = self._tail_positions[at]
            end = self._tail_positions[at + 1] if at + 1 < len(self._tail_positions) else self.size_bytes
            return position, end - position
        found = (0, 0)
        for base_offset, position, size in self._walk(self.offset_index.position_for(offset)):
            if base_offset > offset:
                break
            found = (position, size)
        return found

    def _last_boundary(self, limit: int) -> int:
        """The largest start of a batch at or before the position `limit`."""
        if self._tail_positions and limit >= self._tail_positions[0]:
            return self._tail_positions[bisect_right(self._tail_positions, limit) - 1]
        boundary = 0
        for _, position, size in self._walk(self.offset_index.boundary_before(limit)):
            boundary = position
            if position + size > limit:
                break
        return boundary

    def _walk(self, position: int) -> Iterator[tuple[int, int, int]]:
        """(base offset, position, size) of each batch from the one at `position` on."""
        chunk = b""
        chunk_start = position
        while position < self.size_bytes:
            at = position - chunk_start
            if len(chunk) - at < LENGTH_END:
                chunk = os.pread(self.descriptor, _WALK_BYTES, position)
                chunk_start = position
                at = 0
            base_offset, length = _OFFSET_AND_LENGTH.unpack_from(chunk, at)
            yield base_offset, position, LENGTH_END + length
            position += LENGTH_END + length

    def truncate_to(self, offset: int) -> None:
        """Cut the batch that contains `offset` and everything behind it; the caller flushes."""
        if offset >= self.end_offset:
            return
        position, _ = self.find_batch(offset)
        new_end = self._base_offset_at(position)
        self.size_bytes = position
        self.end_offset = new_end
        self.cut_back()

    def _base_offset_at(self, position: int) -> int:
        if position == 0:
            return self.base_offset
        base_offset: int = _OFFSET_AND_LENGTH.unpack(os.pread(self.descriptor, LENGTH_END, position))[0]
        return base_offset

    def cut_back(self) -> None:
        """Drop what lies behind `size_bytes` and `end_offset`, from the file and from memory: a truncation, a
        torn tail, or a write that failed half-way. Index files are left to `write_indexes`."""
        os.ftruncate(self.descriptor, self.size_bytes)
        self.needs_flush = True
        self.offset_index.truncate_to(self.end_offset)
        self.time_index.truncate_to(self.end_offset)
        keep = bisect_right(self._tail_positions, self.size_bytes - 1)
        del self._tail_offsets[keep:]
        del self._tail_positions[keep:]
        self._max_timestamp_ms, self._offset_of_max_timestamp = self.time_index.last_entry()
        self._bytes_since_index_entry = self.size_bytes - self.offset_index.boundary_before(self.size_bytes)
        if self.size_bytes == 0:
            self.first_timestamp_ms = NO_TIMESTAMP

    def write_indexes(self, active: bool) -> None:
        """Bring both index files in line with the batches; those of the active segment get room to grow."""
        if active:
            self.offset_index.write_file(preallocate=True)
            self.time_index.write_file(preallocate=True)
            return
        self.time_index.remember(self._max_timestamp_ms, self._offset_of_max_timestamp)
        if not self.offset_index.file_is_current():
            self.offset_index.write_file(preallocate=False)
        if not self.time_index.file_is_current():
            self.time_index.write_file(preallocate=False)

    def seal(self) -> None:
        """End of appends: close the time index with the largest timestamp and trim both files."""
        self.time_index.append(self._max_timestamp_ms, self._offset_of_max_timestamp)
        self.offset_index.trim()
        self.time_index.trim()

    def flush(self) -> None:
        """fsync when something was written since the last time. May run beside `append`: an append that
        is under way is simply flushed again next time."""
        if self.needs_flush:
            self.needs_flush = False
            os.fsync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)
        self.offset_index.close()
        self.time_index.close()

    def delete(self) -> None:
        """Close and remove the files, renamed first as Kafka does: a crash leaves no half segment."""
        self.close()
        doomed: list[Path] = []
        for path in (self.path, self.offset_index.path, self.time_index.path):
            renamed = path.with_name(path.name + DELETED_SUFFIX)
            path.replace(renamed)
            doomed.append(renamed)
        for path in doomed:
            path.unlink()
