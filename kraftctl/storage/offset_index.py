"""Kafka's sparse `.index` file: relative offset -> position, one entry for about every 4 KiB of log.

An entry is two big-endian int32: last offset of a batch minus the segment's base offset, and the position
where that batch starts. The file of the active segment is preallocated and trimmed when the segment ends.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left, bisect_right
from pathlib import Path

from kraftctl.storage.durable_files import write_all_at

INDEX_BYTES_MAX = 10 * 1024 * 1024
"""Kafka's segment.index.bytes."""

INDEX_INTERVAL_BYTES = 4096
"""Kafka's index.interval.bytes: how much log may pass without an entry."""

_ENTRY = struct.Struct(">ii")


class OffsetIndex:
    """The entries are kept in memory; the file is written for Java's tools and rebuilt by recovery."""

    def __init__(self, path: Path, base_offset: int, size_bytes_max: int = INDEX_BYTES_MAX) -> None:
        self.path = path
        self.base_offset = base_offset
        self._entries_max = size_bytes_max // _ENTRY.size
        self._offsets = array("q")
        self._positions = array("q")
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)

    def __len__(self) -> int:
        return len(self._offsets)

    def is_full(self, entries_count: int = 0) -> bool:
        """Whether there is no room for another one, after `entries_count` that are still to come."""
        return len(self._offsets) + entries_count >= self._entries_max

    def remember(self, last_offset: int, position: int) -> None:
        """The batch which ends with `last_offset` starts at `position`.

        The file is left to `write_entries_from`, or to `write_file`: recovery writes it in one go.
        """
        self._offsets.append(last_offset)
        self._positions.append(position)

    def write_entries_from(self, count: int) -> None:
        """Write all but the first `count` entries to the file, if there are more."""
        if count < len(self._offsets):
            write_all_at(self._descriptor, self._encoded(count), count * _ENTRY.size)

    def position_for(self, offset: int) -> int:
        """A position at or before the start of the batch that contains `offset`."""
        at = bisect_left(self._offsets, offset) - 1
        if at + 1 < len(self._offsets) and self._offsets[at + 1] == offset:
            at += 1
        return self._positions[at] if at >= 0 else 0

    def boundary_before(self, position: int) -> int:
        """The last known start of a batch at or before `position`."""
        at = bisect_right(self._positions, position) - 1
        return self._positions[at] if at >= 0 else 0

    def truncate_to(self, offset: int) -> None:
        """Forget entries at or above `offset`."""
        keep = bisect_left(self._offsets, offset)
        del self._offsets[keep:]
        del self._positions[keep:]

    def write_file(self, preallocate: bool) -> None:
        """Make the file hold exactly the entries, and room for more when `preallocate`."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, self._encoded(), 0)
        if preallocate:
            self.preallocate()

    def file_is_current(self) -> bool:
        """Whether the file holds exactly the entries in memory and nothing else."""
        encoded = self._encoded()
        if os.fstat(self._descriptor).st_size != len(encoded):
            return False
        return os.pread(self._descriptor, len(encoded), 0) == encoded

    def preallocate(self) -> None:
        os.ftruncate(self._descriptor, self._entries_max * _ENTRY.size)

    def trim(self) -> None:
        """Cut the file behind the last entry, as Kafka does when a segment is rolled or closed."""
        os.ftruncate(self._descriptor, len(self._offsets) * _ENTRY.size)

    def close(self) -> None:
        os.close(self._descriptor)

    def _encoded(self, start: int = 0) -> bytes:
        base = self.base_offset
        return b"".join(
            [
                _ENTRY.pack(offset - base, position)
                for offset, position in zip(self._offsets[start:], self._positions[start:], strict=True)
            ]
        )
