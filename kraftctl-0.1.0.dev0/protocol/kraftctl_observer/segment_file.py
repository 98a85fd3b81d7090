"""One segment of a metadata log on disk: record batches (KIP-98), readable while another process writes.

A place is found by the segment's sparse `.index`, where there is one: for about every 4 KiB of log an entry
of two big-endian int32, an offset relative to the segment's first and a position at or before the batch that
holds it. An index may be stale or damaged, hence it is believed only where a sound batch begins.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from kraftctl_observer.reading import reading
from kraftctl_protocol.batch_framing import (
    ANY_OFFSET,
    HEADER_BYTES,
    BatchPlace,
    InvalidBatchError,
    scan_pieces,
)
from kraftctl_protocol.log_file_names import INDEX_SUFFIX, segment_file_name
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batch, read_batch_header

READ_BYTES = 1_048_576

_INDEX_ENTRY = struct.Struct(">ii")


class SegmentFile:
    """An open segment, readable even after its deletion. FileNotFoundError if it is already deleted."""

    def __init__(self, directory: Path, base_offset: int) -> None:
        self.base_offset = base_offset
        self.path = directory / segment_file_name(base_offset)
        with reading(self.path):
            self._descriptor = os.open(self.path, os.O_RDONLY)

    def __enter__(self) -> SegmentFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def bytes_at(self, position: int, size_bytes: int) -> bytes:
        """Returns the bytes at a position, fewer at the end of the file."""
        with reading(self.path):
            return os.pread(self._descriptor, size_bytes, position)

    def find(self, offset: int) -> BatchPlace | None:
        """The batch that contains `offset`; None if this segment has none, or is damaged before it."""
        for place in self.places(self._hint(offset), check_crc=False):
            if place.last_offset >= offset:
                return place if place.base_offset <= offset else None
        return None

    def places(
        self, position: int, *, check_crc: bool, next_offset: int = ANY_OFFSET
    ) -> Iterator[BatchPlace]:
        """The batches from `position` on, up to the first that is incomplete, damaged, or out of sequence."""
        with reading(self.path):
            size_bytes = os.fstat(self._descriptor).st_size
        scan = scan_pieces(
            self.bytes_at,
            position,
            size_bytes,
            next_offset=next_offset,
            last_epoch=-1,
            piece_bytes=READ_BYTES,
            verify_crc=check_crc,
        )
        with suppress(InvalidBatchError):
            yield from scan

    def batch(self, place: BatchPlace) -> RecordBatch:
        """Decodes a batch; DecodeError when it is damaged."""
        return read_batch(self.bytes_at(place.position, place.size_bytes), 0)

    def batches(self, position: int) -> Iterator[RecordBatch]:
        """Yields all complete batches from `position` on; DecodeError at a damaged one."""
        with reading(self.path):
            yield from batches_of_file(self._descriptor, position)

    def _hint(self, offset: int) -> int:
        """Returns a position at or before the batch that contains `offset`."""
        try:
            index = os.open(self.path.with_suffix(INDEX_SUFFIX), os.O_RDONLY)
            try:
                position = _look_up(index, offset - self.base_offset)
            finally:
                os.close(index)
        except OSError:
            return 0
        for place in self.places(position, check_crc=True):
            return position if self.base_offset <= place.base_offset <= offset else 0
        return 0


def _look_up(index: int, relative_offset: int) -> int:
    """Returns the position of the last entry that is not beyond `relative_offset`; 0 without one.

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


def batches_of_file(
    descriptor: int, position: int = 0, *, batch_bytes_max: int | None = None
) -> Iterator[RecordBatch]:
    """The batches of a segment or checkpoint, up to an incomplete one; DecodeError at a damaged one, or at
    one that is larger than allowed.
    """
    data = os.pread(descriptor, READ_BYTES, position)
    at = 0
    while True:
        needed = HEADER_BYTES
        if len(data) - at >= HEADER_BYTES:
            needed = read_batch_header(data, at).size_bytes
            if batch_bytes_max is not None and needed > batch_bytes_max:
                raise DecodeError(f"a batch of {needed} bytes, more than {batch_bytes_max}")
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
