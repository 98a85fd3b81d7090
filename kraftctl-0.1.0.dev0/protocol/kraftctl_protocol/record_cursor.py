"""RecordCursor walks over the records of a batch in a buffer without an object for each."""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.primitives import DecodeError

RECORD_BYTES_MIN: Final = 7
"""A record has at least length, attributes, both deltas, key length, value length and header count, a byte
each."""

NULL: Final = -1
"""Marks the beginning of a key or value that is null."""


@mypyc_attr(acyclic=True)
class RecordCursor:
    """The `count` records between two positions of `buffer`. Call `advance` before each.

    `index` is that of the record, from 0 on; its key and value are between two positions of `buffer`.
    """

    def __init__(self, buffer: bytes, position: i64, end: i64, count: i64) -> None:
        self.buffer = buffer
        self.count: i64 = count
        self.index: i64 = -1
        self.timestamp_delta: i64 = 0
        self.key_start: i64 = NULL
        self.key_end: i64 = NULL
        self.value_start: i64 = NULL
        self.value_end: i64 = NULL
        self._position: i64 = position
        self._end: i64 = end
        self._batch_end: i64 = end

    def advance(self) -> bool:
        """Goes to the next record; False when there is none. Raises DecodeError when the batch is damaged."""
        self.index += 1
        if self.index >= self.count:
            if self._position != self._batch_end:
                raise DecodeError(
                    f"{self._batch_end - self._position} bytes after the last record of a batch"
                )
            return False
        size = self._read_varlong()
        if size < RECORD_BYTES_MIN - 1 or size > self._batch_end - self._position:
            raise DecodeError(
                f"record of {size} bytes with {self._batch_end - self._position} left in its batch"
            )
        self._end = self._position + size
        self._read_record()
        self._end = self._batch_end
        return True

    def key(self) -> bytes | None:
        return None if self.key_start == NULL else self.buffer[self.key_start : self.key_end]

    def value(self) -> bytes | None:
        return None if self.value_start == NULL else self.buffer[self.value_start : self.value_end]

    def _read_record(self) -> None:
        self._position += 1  # attributes: none are defined
        self.timestamp_delta = self._read_varlong()
        offset_delta = self._read_varlong()
        if offset_delta != self.index:
            raise DecodeError(f"record at offset delta {offset_delta}; {self.index} was expected")
        self.key_start = self._skip_bytes()
        self.key_end = self._position
        self.value_start = self._skip_bytes()
        self.value_end = self._position
        headers_count = self._read_varlong()
        if headers_count < 0 or headers_count > self._end - self._position:
            raise DecodeError(f"record with {headers_count} headers")
        while headers_count > 0:
            self._skip_bytes()
            self._skip_bytes()
            headers_count -= 1
        if self._position != self._end:
            raise DecodeError(f"{self._end - self._position} bytes too many in a record")

    def _read_varlong(self) -> i64:
        position = self._position
        if position >= self._end:
            raise DecodeError("record ends within a number")
        value: i64 = self.buffer[position]
        position += 1
        if value >= 0x80:
            value &= 0x7F
            shift: i64 = 7
            while True:
                if position >= self._end:
                    raise DecodeError("record ends within a number")
                byte: i64 = self.buffer[position]
                position += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
                shift += 7
                if shift > 63:
                    raise DecodeError("number of more than ten bytes")
        self._position = position
        return ((value >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(value & 1)

    def _skip_bytes(self) -> i64:
        """Returns where the bytes begin that the position is behind now; NULL when there are none."""
        size = self._read_varlong()
        if size < 0:
            return NULL
        start = self._position
        if size > self._end - start:
            raise DecodeError(f"field of {size} bytes with {self._end - start} left in its record")
        self._position = start + size
        return start
