"""One segment of the metadata log: a `.log` file of record batches with its two sparse indexes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from kraftctl.storage.directory_entries import remove, rename
from kraftctl.storage.durable_files import FILE_MODE, write_all_at
from kraftctl.storage.errors import CorruptLogError, StorageError, cannot
from kraftctl.storage.index_file import CLOSED, INDEX_BYTES_MAX
from kraftctl.storage.offset_index import INDEX_INTERVAL_BYTES, OffsetIndex
from kraftctl.storage.recent_batches import PlacedBatch
from kraftctl.storage.time_index import NO_TIMESTAMP, TimeIndex
from kraftctl_protocol.batch_framing import (
    HEADER_BYTES,
    PREFIX_BYTES,
    BatchPlace,
    InvalidBatchError,
    base_offset_at,
    batch_size,
    scan_batches,
)
from kraftctl_protocol.log_file_names import (
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    segment_file_name,
)

RELATIVE_OFFSET_MAX = 2**31 - 1
"""An index entry stores offsets as int32 relative to the segment's base offset."""

_WALK_BYTES = 16 * 1024


class Segment:
    """A segment. One thread may `read` while another appends and flushes; everything else needs exclusive
    access.

    Batches in memory are trusted: recovery checks every batch before it is `remembered`, and raft has made
    or checked what is appended. Bytes read from the disk are not: they may differ from what was written.
    """

    def __init__(self, directory: Path, base_offset: int, index_bytes_max: int = INDEX_BYTES_MAX) -> None:
        self.directory = directory
        self.base_offset = base_offset
        self.path = directory / segment_file_name(base_offset)
        self.size_bytes = 0
        self.end_offset = base_offset
        self.needs_flush = False
        self.first_timestamp_ms = NO_TIMESTAMP
        self._max_timestamp_ms = NO_TIMESTAMP
        self._offset_of_max_timestamp = base_offset
        self._bytes_since_index_entry = 0
        self._lock = threading.Lock()  # guards the offset index and the end of the file; never held for long
        try:
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        except OSError as error:
            raise cannot("open", self.path, error) from error
        self.offset_index = OffsetIndex(
            directory / segment_file_name(base_offset, INDEX_SUFFIX), base_offset, index_bytes_max
        )
        self.time_index = TimeIndex(
            directory / segment_file_name(base_offset, TIME_INDEX_SUFFIX), base_offset, index_bytes_max
        )

    def append(self, batches: list[PlacedBatch]) -> None:
        """Writes whole batches at the end of the file, in one write.

        After a StorageError the caller must `cut_back`: some of it may have been written.
        """
        start = position = self.size_bytes
        data = batches[0][1] if len(batches) == 1 else b"".join([batch for _, batch in batches])
        try:
            write_all_at(self.descriptor, data, start)
        except OSError as error:
            raise cannot("write to", self.path, error) from error
        self.needs_flush = True
        offset_entries, time_entries = len(self.offset_index), len(self.time_index)
        with self._lock:
            for place, _ in batches:
                self._note(place, position)
                position += place.size_bytes
        if len(self.offset_index) > offset_entries:
            self.offset_index.write_entries_from(offset_entries)
            self.time_index.write_entries_from(time_entries)
        with self._lock:
            self.size_bytes = position
            self.end_offset = batches[-1][0].last_offset + 1

    def remember(self, place: BatchPlace) -> None:
        """Adds a batch that recovery found in the file, at `place.position` of it."""
        self._note(place, place.position)
        self.size_bytes = place.position + place.size_bytes
        self.end_offset = place.last_offset + 1

    def _note(self, place: BatchPlace, position: int) -> None:
        if place.max_timestamp_ms > self._max_timestamp_ms:
            self._max_timestamp_ms = place.max_timestamp_ms
            self._offset_of_max_timestamp = place.last_offset
        if self.first_timestamp_ms == NO_TIMESTAMP:
            self.first_timestamp_ms = place.max_timestamp_ms
        if self._bytes_since_index_entry > INDEX_INTERVAL_BYTES:
            self.offset_index.remember(place.last_offset, position)
            self.time_index.remember(self._max_timestamp_ms, self._offset_of_max_timestamp)
            self._bytes_since_index_entry = 0
        self._bytes_since_index_entry += place.size_bytes

    def has_room_for(
        self,
        place: BatchPlace,
        segment_bytes: int,
        segment_ms: int,
        first_ahead: BatchPlace,
        ahead_bytes: int,
    ) -> bool:
        """Returns whether Kafka would append this batch here instead of rolling a new segment.

        Batches of `ahead_bytes`, from `first_ahead` on, come before it. The result is exact when there are
        none (0 bytes; it is the first itself), otherwise False may also mean unknown.
        """
        size_bytes = self.size_bytes + ahead_bytes
        if size_bytes == 0:
            return True
        first_timestamp_ms = self.first_timestamp_ms
        if first_timestamp_ms == NO_TIMESTAMP:
            first_timestamp_ms = first_ahead.max_timestamp_ms
        entries_count = ahead_bytes // INDEX_INTERVAL_BYTES + 1 if ahead_bytes else 0
        return (
            size_bytes + place.size_bytes <= segment_bytes
            and place.last_offset - self.base_offset <= RELATIVE_OFFSET_MAX
            and place.max_timestamp_ms - first_timestamp_ms <= segment_ms
            and not self.offset_index.is_full(entries_count)
            and not self.time_index.is_full(entries_count)
        )

    def read(self, offset: int, max_bytes: int, epoch_at: Callable[[int], int]) -> bytes:
        """Reads whole batches from the one that contains `offset`: at most `max_bytes`, but at least one
        batch.

        `epoch_at` says which epoch a batch at an offset has. Raises StorageError when the disk cannot read
        them, and CorruptLogError when it returns other bytes than were written.
        """
        with self._lock:
            near = self.offset_index.position_for(offset)
            end = self.size_bytes
        base_offset, position, size_bytes = self._find_batch(offset, near, end)
        first_end = position + size_bytes
        limit = min(max(first_end, position + max_bytes), end)
        if first_end < limit < end:
            limit = max(first_end, self._whole_batches_end(limit))
        data = self._pread(position, limit - position)
        kept_bytes = 0
        try:
            for place in scan_batches(data, base_offset, epoch_at(base_offset), position):
                if place.epoch != (epoch := epoch_at(place.base_offset)):
                    reason = f"epoch {epoch} was expected, the batch says {place.epoch}"
                    raise self._corrupt(place.position, place.base_offset, reason)
                if kept_bytes == 0 and place.last_offset < offset:
                    reason = f"offset {offset} was expected, the batch ends with {place.last_offset}"
                    raise self._corrupt(place.position, offset, reason)
                kept_bytes += place.size_bytes
        except InvalidBatchError as error:
            # The last one may be cut short: it did not fit. Whether it is damaged shows when it is asked for.
            if kept_bytes == 0 or error.needed_bytes == 0:
                raise self._corrupt(error.position, offset, error.reason) from error
        return data if kept_bytes == len(data) else data[:kept_bytes]

    def _whole_batches_end(self, limit: int) -> int:
        """Returns where the last batch ends that fits before `limit`, by lengths that are not checked yet.

        Cutting off a part of the next one would copy all others, which takes as long as reading them again.
        """
        with self._lock:
            start = self.offset_index.boundary_before(limit)
        # What is longer than an interval of the index is followed by an entry.
        lengths = self._pread(start, min(_WALK_BYTES, limit - start))
        position = 0
        while position + PREFIX_BYTES <= len(lengths):
            size_bytes = batch_size(lengths, position)
            if size_bytes < HEADER_BYTES or start + position + size_bytes > limit:
                break
            position += size_bytes
        return start + position

    def content(self, position: int = 0) -> bytes:
        """Returns everything in the file from byte `position` on. Raises StorageError."""
        try:
            return os.pread(self.descriptor, os.fstat(self.descriptor).st_size - position, position)
        except OSError as error:
            raise cannot("read", self.path, error) from error

    def position_of(self, offset: int) -> int:
        """Returns the byte at which the batch that contains `offset` begins; the end of the file beyond
        it.
        """
        if offset >= self.end_offset:
            return self.size_bytes
        return self._find_batch(offset, self.offset_index.position_for(offset), self.size_bytes)[1]

    def _find_batch(self, offset: int, near: int, end: int) -> tuple[int, int, int]:
        """Returns (base offset, position, size) of the batch that contains `offset`, which must be in this
        segment.

        `near` is the position of that batch or of one before it, and `end` where the last one ends.
        """
        found: tuple[int, int, int] | None = None
        for base_offset, position, size_bytes in self._walk(near, end, offset):
            if base_offset > offset:
                break
            found = (base_offset, position, size_bytes)
        if found is None:
            raise self._corrupt(near, offset, f"no batch with offset {offset} is found from here on")
        return found

    def _walk(self, position: int, end: int, offset: int) -> Iterator[tuple[int, int, int]]:
        """Yields (base offset, position, size) of each batch from the one at `position` on, looking for
        `offset`.
        """
        chunk = b""
        chunk_start = position
        while position < end:
            at = position - chunk_start
            if len(chunk) - at < PREFIX_BYTES:
                chunk = self._pread(position, min(_WALK_BYTES, end - position))
                chunk_start = position
                at = 0
            size_bytes = batch_size(chunk, at)
            if size_bytes < HEADER_BYTES or position + size_bytes > end:
                reason = f"the batch claims a length of {size_bytes - PREFIX_BYTES} bytes"
                raise self._corrupt(position, offset, reason)
            yield base_offset_at(chunk, at), position, size_bytes
            position += size_bytes

    def _pread(self, position: int, size_bytes: int) -> bytes:
        try:
            data = os.pread(self.descriptor, size_bytes, position)
        except OSError as error:
            raise cannot("read", f"{self.path} at byte {position}", error) from error
        if len(data) != size_bytes:
            raise StorageError(
                f"{self.path} lost bytes while in use: {size_bytes} bytes expected at byte {position},"
                f" {len(data)} found. Next step: stop this node and find out what changed the file."
            )
        return data

    def _corrupt(self, position: int, offset: int, reason: str) -> CorruptLogError:
        return CorruptLogError(str(self.path), position, offset, reason)

    def truncate_to(self, offset: int) -> None:
        """Cuts the batch that contains `offset` and everything after it; the caller flushes."""
        if offset >= self.end_offset:
            return
        near = self.offset_index.position_for(offset)
        base_offset, position, _ = self._find_batch(offset, near, self.size_bytes)
        self.size_bytes = position
        self.end_offset = base_offset if position > 0 else self.base_offset
        self.cut_back()

    def cut_back(self) -> None:
        """Drops everything after `size_bytes` and `end_offset`, from the file and from memory.

        That is a truncation, a torn tail, or a write that failed halfway. `write_indexes` updates the index
        files.
        """
        try:
            os.ftruncate(self.descriptor, self.size_bytes)
        except OSError as error:
            raise cannot("truncate", self.path, error) from error
        self.needs_flush = True
        self.offset_index.truncate_to(self.end_offset)
        self.time_index.truncate_to(self.end_offset)
        self._max_timestamp_ms, self._offset_of_max_timestamp = self.time_index.last_entry()
        self._bytes_since_index_entry = self.size_bytes - self.offset_index.boundary_before(self.size_bytes)
        if self.size_bytes == 0:
            self.first_timestamp_ms = NO_TIMESTAMP

    def write_indexes(self, active: bool) -> None:
        """Brings both index files in line with the batches; those of the active segment get room to grow."""
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
        """Ends appends: closes the time index with the largest timestamp and trims both files."""
        self.time_index.append(self._max_timestamp_ms, self._offset_of_max_timestamp)
        self.offset_index.trim()
        self.time_index.trim()

    def flush(self) -> None:
        """Forces to the disk what was written since the last time.

        fdatasync includes the length of the file, but not its times: 146 us instead of 175 for a batch.
        """
        if self.needs_flush:
            self.needs_flush = False
            try:
                os.fdatasync(self.descriptor)
            except OSError as error:
                raise cannot("force to the disk", self.path, error) from error

    def close(self) -> None:
        """Closes once: the number of a closed descriptor may be that of another file."""
        descriptor, self.descriptor = self.descriptor, CLOSED
        if descriptor != CLOSED:
            os.close(descriptor)
        self.offset_index.close()
        self.time_index.close()

    def delete(self) -> None:
        """Closes and removes the files, renamed first as Kafka does: a crash leaves no half segment."""
        self.close()
        doomed: list[Path] = []
        for path in (self.path, self.offset_index.path, self.time_index.path):
            renamed = path.with_name(path.name + DELETED_SUFFIX)
            rename(path, renamed)
            doomed.append(renamed)
        for path in doomed:
            remove(path)
