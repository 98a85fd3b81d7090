"""Kafka's sparse `.index` file: relative offset -> position, one entry for about every 4 KiB of log.

An entry is two big-endian int32: last offset of a batch minus the segment's base offset, and the position
where that batch starts.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from pathlib import Path

from kraftctl.storage.index_file import INDEX_BYTES_MAX, IndexFile

INDEX_INTERVAL_BYTES = 4096
"""Kafka's index.interval.bytes: this much log may pass without an entry."""

_ENTRY = struct.Struct(">ii")


class OffsetIndex(IndexFile):
    """Finds positions by offset."""

    def __init__(self, path: Path, base_offset: int, size_bytes_max: int = INDEX_BYTES_MAX) -> None:
        super().__init__(path, base_offset, size_bytes_max, _ENTRY)

    def is_full(self, entries_count: int = 0) -> bool:
        """Returns whether there is no room for one more after `entries_count` others."""
        return len(self.offsets) + entries_count >= self._entries_max

    def remember(self, last_offset: int, position: int) -> None:
        """Notes that the batch which ends with `last_offset` starts at `position`.

        The file is left to `write_entries_from`, or to `write_file`: recovery writes it in one step.
        """
        self.offsets.append(last_offset)
        self.values.append(position)

    def position_for(self, offset: int) -> int:
        """Returns a position at or before the start of the batch that contains `offset`."""
        at = bisect_left(self.offsets, offset) - 1
        if at + 1 < len(self.offsets) and self.offsets[at + 1] == offset:
            at += 1
        return self.values[at] if at >= 0 else 0

    def boundary_before(self, position: int) -> int:
        """Returns the last known start of a batch at or before `position`."""
        at = bisect_right(self.values, position) - 1
        return self.values[at] if at >= 0 else 0

    def encoded(self, start: int = 0) -> bytes:
        """Returns the entries from number `start` on, as IndexFile.encoded does."""
        base = self.base_offset
        return b"".join(
            [
                _ENTRY.pack(offset - base, position)
                for offset, position in zip(self.offsets[start:], self.values[start:], strict=True)
            ]
        )
