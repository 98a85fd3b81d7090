"""Keeps the end of the metadata log in memory: batches that are not written yet, or will soon be fetched."""

from __future__ import annotations

from bisect import bisect_right

from kraftctl_protocol.batch_framing import BatchPlace

RECENT_BYTES_MAX = 4 * 1024 * 1024
"""The limit of batches that are already written: a live replica lags by less than a second."""

JOINED_BYTES_MIN = 64 * 1024
"""A long part is kept for the next replica that reads from the same offset: joining copies it, and a MB
takes 0.2 to 0.3 ms. A short part changes with each append."""

JOINED_BYTES_MAX = 4 * 1024 * 1024
"""The limit is all recent batches, once."""

PlacedBatch = tuple[BatchPlace, bytes]
"""The place and the bytes of a batch; the position is unused."""


class RecentBatches:
    """The batches from some offset up to the end of the log, without a gap.

    Not safe for threads: the log's lock is held around every call, so nothing here blocks.
    """

    def __init__(self) -> None:
        self.unwritten_bytes = 0
        self._written_bytes = 0
        self._base_offsets: list[int] = []
        self._batches: list[bytes] = []
        self._unwritten: list[PlacedBatch] = []
        self._joined: dict[tuple[int, int], bytes] = {}
        """The joined parts by base offset and size, the oldest first."""
        self._joined_bytes = 0

    def append(self, places: list[BatchPlace], batches: bytes) -> None:
        """Takes whole batches, whose `places` are relative to their own start."""
        if len(places) == 1:
            self._append(places[0], batches)
            return
        for place in places:
            self._append(place, batches[place.position : place.position + place.size_bytes])

    def _append(self, place: BatchPlace, batch: bytes) -> None:
        self._base_offsets.append(place.base_offset)
        self._batches.append(batch)
        self._unwritten.append((place, batch))
        self.unwritten_bytes += place.size_bytes

    def unwritten(self) -> list[PlacedBatch]:
        """Returns everything that is in no file yet, in order."""
        return list(self._unwritten)

    def written(self, count: int) -> None:
        """Notes that the first `count` unwritten batches are in a file; the oldest ones may be forgotten."""
        for _, batch in self._unwritten[:count]:
            self.unwritten_bytes -= len(batch)
            self._written_bytes += len(batch)
        del self._unwritten[:count]
        if self._written_bytes > RECENT_BYTES_MAX:
            self._forget()

    def _forget(self) -> None:
        """Forgets down to a half, so that it is rarely done."""
        written_count = len(self._batches) - len(self._unwritten)
        count = 0
        while count < written_count and self._written_bytes > RECENT_BYTES_MAX // 2:
            self._written_bytes -= len(self._batches[count])
            count += 1
        del self._base_offsets[:count]
        del self._batches[:count]

    def read(self, offset: int, max_bytes: int, end_offset: int) -> bytes | None:
        """Reads like MetadataLog.read; None when the batch that contains `offset` is not here."""
        offsets = self._base_offsets
        if not offsets or offset < offsets[0]:
            return None
        start = bisect_right(offsets, offset) - 1
        if offsets[start] >= end_offset:
            return b""
        held = self._batches
        end = start + 1
        size_bytes = len(held[start])
        while end < len(held) and offsets[end] < end_offset:
            more_bytes = len(held[end])
            if size_bytes + more_bytes > max_bytes:
                break
            size_bytes += more_bytes
            end += 1
        if end == start + 1:
            return held[start]
        if not JOINED_BYTES_MIN <= size_bytes <= JOINED_BYTES_MAX:
            return b"".join(held[start:end])
        return self._join(start, end, size_bytes)

    def _join(self, start: int, end: int, size_bytes: int) -> bytes:
        """Returns batches from index `start` up to `end`, in one piece."""
        key = (self._base_offsets[start], size_bytes)
        joined = self._joined.get(key)
        if joined is None:
            while self._joined and self._joined_bytes + size_bytes > JOINED_BYTES_MAX:
                oldest = next(iter(self._joined))
                self._joined_bytes -= len(self._joined.pop(oldest))
            joined = b"".join(self._batches[start:end])
            self._joined[key] = joined
            self._joined_bytes += size_bytes
        return joined

    def _forget_joined(self) -> None:
        """Forgets joined parts: other batches may follow with the same offsets."""
        self._joined.clear()
        self._joined_bytes = 0

    def truncate_to(self, offset: int) -> int | None:
        """Drops every batch that holds `offset` or more; returns where the first of them began, None if
        not here.
        """
        self._forget_joined()
        offsets = self._base_offsets
        if not offsets or offset < offsets[0]:
            self.clear()
            return None
        keep = bisect_right(offsets, offset) - 1
        end_offset = offsets[keep]
        dropped_count = len(offsets) - keep
        unwritten_dropped_count = min(dropped_count, len(self._unwritten))
        dropped_bytes = sum(map(len, self._batches[keep:]))
        unwritten_kept = len(self._unwritten) - unwritten_dropped_count
        unwritten_dropped_bytes = sum(len(batch) for _, batch in self._unwritten[unwritten_kept:])
        self.unwritten_bytes -= unwritten_dropped_bytes
        self._written_bytes -= dropped_bytes - unwritten_dropped_bytes
        del offsets[keep:]
        del self._batches[keep:]
        del self._unwritten[unwritten_kept:]
        return end_offset

    def clear(self) -> None:
        """Drops all batches, written or not."""
        self._forget_joined()
        self.unwritten_bytes = 0
        self._written_bytes = 0
        self._base_offsets = []
        self._batches = []
        self._unwritten = []
