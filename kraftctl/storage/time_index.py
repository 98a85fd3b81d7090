"""Kafka's sparse `.timeindex` file: largest timestamp so far -> relative offset.

An entry is a big-endian int64 and int32. Nothing in a controller looks records up by time; the file exists
because Kafka's own recovery and tools expect one beside each segment.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from pathlib import Path

from kraftctl.storage.durable_files import write_all_at
from kraftctl.storage.offset_index import INDEX_BYTES_MAX

NO_TIMESTAMP = -1
_ENTRY = struct.Struct(">qi")


class TimeIndex:
    """Timestamps and offsets both rise strictly; an entry that would not is left out."""

    def __init__(self, path: Path, base_offset: int, size_bytes_max: int = INDEX_BYTES_MAX) -> None:
        self.path = path
        self.base_offset = base_offset
        self._entries_max = size_bytes_max // _ENTRY.size
        self._timestamps = array("q")
        self._offsets = array("q")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def __len__(self) -> int:
        return len(self._timestamps)

    def is_full(self, entries_count: int = 0) -> bool:
        """As OffsetIndex.is_full; one slot is kept for the entry that closes the segment."""
        return len(self._timestamps) + entries_count >= self._entries_max - 1

    def append(self, timestamp_ms: int, offset: int) -> None:
        """Remember and write."""
        count = len(self._timestamps)
        self.remember(timestamp_ms, offset)
        self.write_entries_from(count)

    def remember(self, timestamp_ms: int, offset: int) -> None:
        """Nothing changes when the timestamp is not larger than the last one. The file is left alone."""
        last = self._timestamps[-1] if self._timestamps else NO_TIMESTAMP
        if timestamp_ms > last:
            self._timestamps.append(timestamp_ms)
            self._offsets.append(offset)

    def write_entries_from(self, count: int) -> None:
        """Write all but the first `count` entries to the file, if there are more."""
        if count < len(self._timestamps):
            write_all_at(self._descriptor, self._encoded(count), count * _ENTRY.size)

    def last_entry(self) -> tuple[int, int]:
        """(timestamp, offset), or (-1, base offset) when empty."""
        if not self._timestamps:
            return NO_TIMESTAMP, self.base_offset
        return self._timestamps[-1], self._offsets[-1]

    def truncate_to(self, offset: int) -> None:
        """Forget entries at or above `offset`."""
        keep = bisect_left(self._offsets, offset)
        del self._timestamps[keep:]
        del self._offsets[keep:]

    def write_file(self, preallocate: bool) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, self._encoded(), 0)
        if preallocate:
            self.preallocate()

    def file_is_current(self) -> bool:
        encoded = self._encoded()
        if os.fstat(self._descriptor).st_size != len(encoded):
            return False
        return os.pread(self._descriptor, len(encoded), 0) == encoded

    def preallocate(self) -> None:
        os.ftruncate(self._descriptor, self._entries_max * _ENTRY.size)

    def trim(self) -> None:
        os.ftruncate(self._descriptor, len(self._timestamps) * _ENTRY.size)

    def close(self) -> None:
        os.close(self._descriptor)

    def _encoded(self, start: int = 0) -> bytes:
        base = self.base_offset
        return b"".join(
            [
                _ENTRY.pack(time, offset - base)
                for time, offset in zip(self._timestamps[start:], self._offsets[start:], strict=True)
            ]
        )
