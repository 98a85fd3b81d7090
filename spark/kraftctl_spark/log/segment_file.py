"""One segment of a metadata log on disk: record batches (KIP-98), read while somebody else may be writing.

A place is found by the segment's sparse `.index`, where there is one: for about every 4 KiB of log an entry
of two big-endian int32, an offset relative to the segment's first and a position at or before the batch that
holds it. An index may be stale or damaged, hence it is believed only where a sound batch begins.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from kraftctl_protocol.crc32c import crc32c_of
from kraftctl_protocol.record_batch import HEADER_BYTES, RecordBatch, read_batch, read_batch_header

READ_BYTES = 1_048_576
MAGIC = 2
LENGTH_END = 12
"""The length in a batch counts from here."""
CRC_START = 21
LENGTH_MIN = HEADER_BYTES - LENGTH_END
CONTROL_BIT = 0x20

_HEADER = struct.Struct(">qiibIhi")
_INDEX_ENTRY = struct.Struct(">ii")


class BatchPlace(NamedTuple):
    """A batch and where it lies: offsets both inclusive, `position` in bytes from the start of the file."""

    base_offset: int
    last_offset: int
    epoch: int
    is_control: bool
    position: int
    size_bytes: int


class SegmentFile:
    """An open segment: what was deleted since can still be read. FileNotFoundError if it is gone by now."""

    def __init__(self, directory: Path, base_offset: int) -> None:
        self.base_offset = base_offset
        self.path = directory / f"{base_offset:020}.log"
        self._descriptor = os.open(self.path, os.O_RDONLY)

    def __enter__(self) -> SegmentFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def bytes_at(self, position: int, size_bytes: int) -> bytes:
        """Fewer at the end of the file."""
        return os.pread(self._descriptor, size_bytes, position)

    def find(self, offset: int) -> BatchPlace | None:
        """The batch that contains `offset`; None if this segment has none, or is damaged before it."""
        for place in self.places(self._hint(offset), check_crc=False):
            if place.last_offset >= offset:
                return place if place.base_offset <= offset else None
        return None

    def places(
        self, position: int, *, check_crc: bool, next_offset: int | None = None
    ) -> Iterator[BatchPlace]:
        """The batches from `position` on, up to the first that is not whole, not sound, or out of line."""
        file_bytes = os.fstat(self._descriptor).st_size
        chunk, start, last_epoch = b"", position, -1
        while file_bytes - position >= HEADER_BYTES:
            if position - start + HEADER_BYTES > len(chunk):
                chunk, start = self.bytes_at(position, READ_BYTES), position
                if len(chunk) < HEADER_BYTES:
                    return
            at = position - start
            base_offset, length, epoch, magic, crc, attributes, delta = _HEADER.unpack_from(chunk, at)
            size_bytes = LENGTH_END + length
            in_line = next_offset in (None, base_offset) and epoch >= last_epoch and delta >= 0
            if magic != MAGIC or length < LENGTH_MIN or position + size_bytes > file_bytes or not in_line:
                return
            if check_crc:
                if at + size_bytes > len(chunk):
                    chunk, start, at = self.bytes_at(position, max(READ_BYTES, size_bytes)), position, 0
                    if len(chunk) < size_bytes:
                        return
                if crc32c_of(chunk, at + CRC_START, at + size_bytes) != crc:
                    return
            is_control = attributes & CONTROL_BIT != 0
            yield BatchPlace(base_offset, base_offset + delta, epoch, is_control, position, size_bytes)
            position += size_bytes
            next_offset, last_epoch = base_offset + delta + 1, epoch

    def batch(self, place: BatchPlace) -> RecordBatch:
        """DecodeError when it is damaged."""
        return read_batch(self.bytes_at(place.position, place.size_bytes), 0)

    def batches(self, position: int) -> Iterator[RecordBatch]:
        """All whole batches from `position` on; DecodeError at one that is damaged."""
        return batches_of_file(self._descriptor, position)

    def _hint(self, offset: int) -> int:
        """A position at or before the batch that contains `offset`."""
        try:
            index = os.open(self.path.with_suffix(".index"), os.O_RDONLY)
        except OSError:
            return 0
        try:
            position = _look_up(index, offset - self.base_offset)
        finally:
            os.close(index)
        for place in self.places(position, check_crc=True):
            return position if self.base_offset <= place.base_offset <= offset else 0
        return 0


def _look_up(index: int, relative_offset: int) -> int:
    """The position of the last entry that is not beyond `relative_offset`; 0 without one.

    The index of an active segment is longer than its entries: zeros follow.
    """
    low, high, found = 0, os.fstat(index).st_size // _INDEX_ENTRY.size, 0
    while low < high:
        middle = (low + high) // 2
        entry = os.pread(index, _INDEX_ENTRY.size, middle * _INDEX_ENTRY.size)
        if len(entry) < _INDEX_ENTRY.size:
            return 0
        relative, position = _INDEX_ENTRY.unpack(entry)
        if 0 < relative <= relative_offset:
            low, found = middle + 1, position
        else:
            high = middle
    return max(found, 0)


def batches_of_file(descriptor: int, position: int = 0) -> Iterator[RecordBatch]:
    """Also of a checkpoint. Ends before a batch that is not whole; DecodeError at one that is damaged."""
    data = os.pread(descriptor, READ_BYTES, position)
    at = 0
    while True:
        needed = HEADER_BYTES
        if len(data) - at >= HEADER_BYTES:
            needed = read_batch_header(data, at).size_bytes
        if len(data) - at >= needed:
            yield read_batch(data, at)
            at += needed
            continue
        position += at
        if os.fstat(descriptor).st_size < position + needed:
            return
        data, at = os.pread(descriptor, max(READ_BYTES, needed), position), 0
        if len(data) < needed:
            return
