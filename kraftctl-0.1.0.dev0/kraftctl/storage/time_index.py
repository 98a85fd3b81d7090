"""Kafka's sparse `.timeindex` file: largest timestamp so far -> relative offset.

An entry is a big-endian int64 and int32. A controller never searches records by time; the file exists
because Kafka's own recovery and tools expect one beside each segment.
"""

from __future__ import annotations

import struct
from pathlib import Path

from kraftctl.storage.index_file import INDEX_BYTES_MAX, IndexFile

NO_TIMESTAMP = -1
_ENTRY = struct.Struct(">qi")


class TimeIndex(IndexFile):
    """Timestamps and offsets both rise strictly; other entries are left out."""

    def __init__(self, path: Path, base_offset: int, size_bytes_max: int = INDEX_BYTES_MAX) -> None:
        super().__init__(path, base_offset, size_bytes_max, _ENTRY)

    def is_full(self, entries_count: int = 0) -> bool:
        """Returns whether it is full, like OffsetIndex.is_full, with one slot reserved for the entry
        that closes the segment.
        """
        return len(self.values) + entries_count >= self._entries_max - 1

    def append(self, timestamp_ms: int, offset: int) -> None:
        """Remembers an entry and writes it."""
        count = len(self.values)
        self.remember(timestamp_ms, offset)
        self.write_entries_from(count)

    def remember(self, timestamp_ms: int, offset: int) -> None:
        """Adds an entry if the timestamp is larger than the last one. The file is left alone."""
        last = self.values[-1] if self.values else NO_TIMESTAMP
        if timestamp_ms > last:
            self.values.append(timestamp_ms)
            self.offsets.append(offset)

    def last_entry(self) -> tuple[int, int]:
        """Returns (timestamp, offset), or (-1, base offset) when empty."""
        if not self.values:
            return NO_TIMESTAMP, self.base_offset
        return self.values[-1], self.offsets[-1]

    def encoded(self, start: int = 0) -> bytes:
        """Returns the entries from number `start` on, as IndexFile.encoded does."""
        base = self.base_offset
        return b"".join(
            [
                _ENTRY.pack(time, offset - base)
                for time, offset in zip(self.values[start:], self.offsets[start:], strict=True)
            ]
        )
