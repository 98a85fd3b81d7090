"""Walks over record batches by their headers and checks each: what recovery and append trust a batch for.

The record batch of magic 2 (KIP-98): base offset, length, partition leader epoch, magic and CRC lie outside
the CRC-32C, everything from the attributes on lies inside. What the CRC does not cover is checked against
the neighbours: offsets follow one another without a gap and epochs never fall.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from crc32c import crc32c

BATCH_HEADER_BYTES = 61
LENGTH_END = 12
"""`length` counts from here: base offset (8) and the length itself (4) are not included."""
CRC_START = 21
_LENGTH_MIN = BATCH_HEADER_BYTES - LENGTH_END
_HEADER = struct.Struct(">qiibIhiqq")


class BatchPlace(NamedTuple):
    """Where a batch lies: offsets both inclusive, `position` in bytes from the start of buffer or file."""

    base_offset: int
    last_offset: int
    epoch: int
    max_timestamp_ms: int
    position: int
    size_bytes: int


class InvalidBatchError(Exception):
    """No trustworthy batch starts at `position`.

    `needed_bytes` is how long the batch claims to be when that is merely more than the buffer holds, else 0.
    """

    def __init__(self, position: int, reason: str, needed_bytes: int = 0) -> None:
        super().__init__(f"at byte {position}: {reason}")
        self.position = position
        self.reason = reason
        self.needed_bytes = needed_bytes


def scan_batches(
    buffer: bytes | memoryview, next_offset: int, last_epoch: int, base_position: int = 0
) -> Iterator[BatchPlace]:
    """The batches of `buffer`, which must start with offset `next_offset` in epoch `last_epoch` or later.

    `base_position` is added to every reported position. Raises InvalidBatchError at the first batch that is
    cut short, damaged or out of line; all batches yielded before it are good.
    """
    view = memoryview(buffer)
    end = len(view)
    position = 0
    unpack = _HEADER.unpack_from
    while position < end:
        if end - position < BATCH_HEADER_BYTES:
            raise InvalidBatchError(base_position + position, "the header is cut short", BATCH_HEADER_BYTES)
        base_offset, length, epoch, magic, crc, _, delta, _, max_timestamp_ms = unpack(view, position)
        if (
            length < _LENGTH_MIN
            or magic != 2
            or base_offset != next_offset
            or epoch < last_epoch
            or delta < 0
        ):
            reason = _why_out_of_line(base_offset, length, epoch, magic, delta, next_offset, last_epoch)
            raise InvalidBatchError(base_position + position, reason)
        batch_end = position + LENGTH_END + length
        if batch_end > end:
            raise InvalidBatchError(base_position + position, "the batch is cut short", LENGTH_END + length)
        if crc32c(view[position + CRC_START : batch_end]) != crc:
            raise InvalidBatchError(base_position + position, "the checksum (CRC-32C) does not match")
        last_offset = base_offset + delta
        yield BatchPlace(
            base_offset, last_offset, epoch, max_timestamp_ms, base_position + position, batch_end - position
        )
        next_offset = last_offset + 1
        last_epoch = epoch
        position = batch_end


def _why_out_of_line(
    base_offset: int, length: int, epoch: int, magic: int, delta: int, next_offset: int, last_epoch: int
) -> str:
    if magic != 2:
        return f"not a record batch of magic 2 (magic {magic})"
    if length < _LENGTH_MIN:
        return f"the batch claims a length of {length} bytes"
    if base_offset != next_offset:
        return f"offset {next_offset} was expected, the batch starts at {base_offset}"
    if epoch < last_epoch:
        return f"its epoch {epoch} is older than the epoch {last_epoch} before it"
    return f"the batch claims {delta + 1} records"


def find_intact_batch(data: bytes, next_offset: int, start: int = 0) -> int | None:
    """The first position, from `start` on, where a whole batch with a matching checksum starts, or None.

    Tells a torn tail (nothing intact behind the damage) from corruption in the middle. Only base offsets
    of `next_offset` or later count, so that an old batch inside a record's bytes does not.
    """
    view = memoryview(data)
    magic_at = data.find(b"\x02", start + 16)
    while magic_at >= 0:
        position = magic_at - 16
        if is_intact_batch(view, position, next_offset):
            return position
        magic_at = data.find(b"\x02", magic_at + 1)
    return None


def is_intact_batch(view: memoryview, position: int, offset_min: int = 0) -> bool:
    """Whether a whole batch with a matching checksum starts at `position`, at `offset_min` or later."""
    if len(view) - position < BATCH_HEADER_BYTES:
        return False
    base_offset, length, epoch, magic, crc, _, delta, _, _ = _HEADER.unpack_from(view, position)
    if magic != 2 or base_offset < offset_min or length < _LENGTH_MIN or epoch < 0 or delta < 0:
        return False
    batch_end = position + LENGTH_END + length
    return batch_end <= len(view) and bool(crc32c(view[position + CRC_START : batch_end]) == crc)
