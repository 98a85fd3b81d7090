"""Kafka's primitive types on the wire: ints, varints, strings, arrays, tagged fields (KIP-482).

Every method of `Reader` checks bounds before it reads and raises `DecodeError`, never anything else, whatever
the bytes are; so does everything built on it. Functions that write raise `EncodeError` for what they check
themselves; a value of the wrong type or an integer out of range surfaces as TypeError, AttributeError or
ValueError, which `Message.encode` turns into `EncodeError`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from librt.strings import (
    BytesWriter,
    read_f64_be,
    read_i16_be,
    read_i32_be,
    read_i64_be,
    write_i16_be,
    write_i32_be,
)
from mypy_extensions import i16, i32, i64, mypyc_attr, u8

from kraftctl_protocol.codec_errors import DecodeError as DecodeError
from kraftctl_protocol.codec_errors import EncodeError as EncodeError
from kraftctl_protocol.codec_errors import OverBudgetError as OverBudgetError
from kraftctl_protocol.codec_errors import null_decoded as null_decoded
from kraftctl_protocol.decoding_limits import (
    ARRAY_LENGTH_MAX,
    ARRAY_START_COST,
    BYTES_COST,
    LIST_COST,
    PAUSE_WIRE_BYTES,
    STRING_COST,
    TAG_COST,
    TAGGED_FIELDS_MAX,
    UNLIMITED,
)

Writer = BytesWriter

STRING_SIZE_MAX: Final = 32767
"""Kafka refuses longer strings in every encoding, also where the length would fit (Short.MAX_VALUE)."""

EMPTY: Final[list[Any]] = []
"""The default of array parameters, replaced by a new empty list; never stored, never changed."""


@mypyc_attr(acyclic=True, free_list_len=1)
class Reader:
    """Reads from `position` up to `end` (exclusive); `position` only moves past what was read whole.

    `budget_bytes` is the memory that what is read may still take: an array draws from it before its elements
    are read, by what the generator knows about them, and strings and bytes draw their own. Past `pause_at`,
    structs in arrays call `pause` before they are read.
    """

    def __init__(self, buffer: bytes, position: i64 = 0, budget_bytes: i64 = UNLIMITED) -> None:
        self.buffer = buffer
        self.position: i64 = position
        self.end: i64 = len(buffer)
        self.budget_bytes: i64 = budget_bytes
        self.pause_at: i64 = UNLIMITED
        self._pause: Callable[[], object] | None = None
        if position < 0 or position > self.end:
            raise DecodeError(f"position {position} is outside of {self.end} bytes")

    def limit(self, budget_bytes: i64, pause: Callable[[], object] | None = None) -> None:
        """Starts a new budget. If `pause` is given, it is called every few kilobytes from now on."""
        self.budget_bytes = budget_bytes
        self._pause = pause
        self.pause_at = UNLIMITED if pause is None else self.position + PAUSE_WIRE_BYTES

    def pause(self) -> None:
        """Generated code calls this when it has come to `pause_at`."""
        self.pause_at = self.position + PAUSE_WIRE_BYTES
        if self._pause is not None:
            self._pause()

    def draw(self, size_bytes: i64) -> None:
        """Takes `size_bytes` from the budget; OverBudgetError if it has less."""
        self.budget_bytes -= size_bytes
        if self.budget_bytes < 0:
            raise self.over_budget()

    def over_budget(self) -> OverBudgetError:
        return OverBudgetError(f"it takes more memory than is allowed, at byte {self.position}")

    def expect_end(self) -> None:
        """Raises DecodeError unless everything was read."""
        if self.position != self.end:
            raise DecodeError(f"{self.end - self.position} bytes left over")

    def truncated(self, wanted: i64) -> DecodeError:
        return DecodeError(f"{wanted} bytes wanted at {self.position}, {self.end - self.position} left")

    def take(self, size: i64) -> i64:
        """Returns where the next `size` bytes begin; they are there, and count as read."""
        position = self.position
        if position + size > self.end:
            raise self.truncated(size)
        self.position = position + size
        return position

    def read_bool(self) -> bool:
        position = self.position
        if position >= self.end:
            raise self.truncated(1)
        self.position = position + 1
        return self.buffer[position] != 0

    def read_int8(self) -> i32:
        position = self.position
        if position >= self.end:
            raise self.truncated(1)
        self.position = position + 1
        value: i32 = self.buffer[position]
        return value - 256 if value > 127 else value

    def read_uint8(self) -> i64:
        position = self.position
        if position >= self.end:
            raise self.truncated(1)
        self.position = position + 1
        value: i64 = self.buffer[position]
        return value

    def read_int16(self) -> i16:
        position = self.position
        if position + 2 > self.end:
            raise self.truncated(2)
        self.position = position + 2
        return read_i16_be(self.buffer, position)

    def read_uint16(self) -> i64:
        position = self.position
        if position + 2 > self.end:
            raise self.truncated(2)
        self.position = position + 2
        value: i64 = i64(read_i16_be(self.buffer, position))
        return value & 0xFFFF

    def read_int32(self) -> i32:
        position = self.position
        if position + 4 > self.end:
            raise self.truncated(4)
        self.position = position + 4
        return read_i32_be(self.buffer, position)

    def read_uint32(self) -> i64:
        position = self.position
        if position + 4 > self.end:
            raise self.truncated(4)
        self.position = position + 4
        value: i64 = i64(read_i32_be(self.buffer, position))
        return value & 0xFFFFFFFF

    def read_int64(self) -> i64:
        position = self.position
        if position + 8 > self.end:
            raise self.truncated(8)
        self.position = position + 8
        return read_i64_be(self.buffer, position)

    def read_float64(self) -> float:
        position = self.position
        if position + 8 > self.end:
            raise self.truncated(8)
        self.position = position + 8
        return read_f64_be(self.buffer, position)

    def read_uuid(self) -> bytes:
        position = self.position
        if position + 16 > self.end:
            raise self.truncated(16)
        self.position = position + 16
        return self.buffer[position : position + 16]

    def read_raw(self, size: i64) -> bytes:
        """Returns the next `size` bytes."""
        position = self.position
        if size < 0 or size > self.end - position:
            raise self.truncated(size)
        self.draw(BYTES_COST + size)
        self.position = position + size
        return self.buffer[position : position + size]

    def read_text(self, size: i64) -> str:
        """Returns the next `size` bytes as UTF-8."""
        if size > STRING_SIZE_MAX:
            raise DecodeError(f"string of {size} bytes")
        position = self.position
        if size < 0 or size > self.end - position:
            raise self.truncated(size)
        if size > 1:
            # CPython has one object for each shorter string.
            self.draw(STRING_COST + size)
        self.position = position + size
        try:
            text = self.buffer[position : position + size].decode("utf-8")
        except UnicodeDecodeError as error:
            raise DecodeError(f"string is not UTF-8: {error.reason}") from error
        if len(text) != size:
            # Each of its characters takes as much as the widest.
            self.draw(3 * size)
        return text

    def read_uvarint(self) -> i64:
        """Returns an unsigned int of at most 31 bits in one to five bytes: lengths, counts and tags."""
        position = self.position
        if position >= self.end:
            raise self.truncated(1)
        value: i64 = self.buffer[position]
        position += 1
        if value >= 0x80:
            value &= 0x7F
            shift: i64 = 7
            while True:
                if position >= self.end:
                    raise self.truncated(1)
                byte: i64 = self.buffer[position]
                position += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80:
                    break
                shift += 7
                if shift > 28:
                    raise DecodeError("varint is longer than five bytes")
            if value > 0x7FFFFFFF:
                raise DecodeError(f"varint {value} is too large")
        self.position = position
        return value

    def read_varint(self) -> i64:
        """Reads a zigzag int of 32 bits."""
        value = self.read_varlong()
        if value > 0x7FFFFFFF or value < -0x80000000:
            raise DecodeError(f"varint {value} is too large")
        return value

    def read_varlong(self) -> i64:
        """Reads a zigzag int of 64 bits, which has one to ten bytes."""
        position = self.position
        value: i64 = 0
        shift: i64 = 0
        while True:
            if position >= self.end:
                raise self.truncated(1)
            byte: i64 = self.buffer[position]
            position += 1
            if shift == 63 and byte > 1:
                raise DecodeError("varlong is longer than 64 bits")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        self.position = position
        return ((value >> 1) & 0x7FFFFFFFFFFFFFFF) ^ -(value & 1)

    def read_string(self) -> str:
        size: i64 = i64(self.read_int16())
        if size < 0:
            raise null_decoded()
        return self.read_text(size)

    def read_nullable_string(self) -> str | None:
        size: i64 = i64(self.read_int16())
        return None if size < 0 else self.read_text(size)

    def read_compact_string(self) -> str:
        size = self.read_uvarint()
        if size == 0:
            raise null_decoded()
        return self.read_text(size - 1)

    def read_compact_nullable_string(self) -> str | None:
        size = self.read_uvarint()
        return None if size == 0 else self.read_text(size - 1)

    def read_bytes(self) -> bytes:
        size: i64 = i64(self.read_int32())
        if size < 0:
            raise null_decoded()
        return self.read_raw(size)

    def read_nullable_bytes(self) -> bytes | None:
        size: i64 = i64(self.read_int32())
        return None if size < 0 else self.read_raw(size)

    def read_compact_bytes(self) -> bytes:
        size = self.read_uvarint()
        if size == 0:
            raise null_decoded()
        return self.read_raw(size - 1)

    def read_compact_nullable_bytes(self) -> bytes | None:
        size = self.read_uvarint()
        return None if size == 0 else self.read_raw(size - 1)

    def admit_array(self, length: i64, element_size_min: i64, element_cost: i64) -> None:
        """Refuses an array that the remaining bytes cannot hold, that is longer than Kafka allows, or over
        the budget.
        """
        if length * element_size_min > self.end - self.position:
            raise self.truncated(length * element_size_min)
        if length > ARRAY_LENGTH_MAX:
            raise OverBudgetError(f"array of {length} elements, more than {ARRAY_LENGTH_MAX}")
        if length > 0:
            self.budget_bytes -= ARRAY_START_COST + length * element_cost
            if self.budget_bytes < 0:
                raise self.over_budget()

    def read_nullable_array_length(self, element_size_min: i64, element_cost: i64) -> i64:
        """Returns how many elements follow, or -1 for null; `admit_array` may refuse them."""
        length: i64 = i64(self.read_int32())
        if length < 0:
            return -1
        self.admit_array(length, element_size_min, element_cost)
        return length

    def read_array_length(self, element_size_min: i64, element_cost: i64) -> i64:
        length = self.read_nullable_array_length(element_size_min, element_cost)
        if length < 0:
            raise null_decoded()
        return length

    def read_compact_nullable_array_length(self, element_size_min: i64, element_cost: i64) -> i64:
        length = self.read_uvarint() - 1
        self.admit_array(length, element_size_min, element_cost)
        return length

    def read_compact_array_length(self, element_size_min: i64, element_cost: i64) -> i64:
        length = self.read_uvarint() - 1
        if length < 0:
            raise null_decoded()
        self.admit_array(length, element_size_min, element_cost)
        return length

    def read_tag_count(self) -> i64:
        """Returns how many tagged fields follow, no more than Kafka allows."""
        if self.position < self.end and self.buffer[self.position] == 0:
            self.position += 1
            return 0
        count = self.read_uvarint()
        if count > TAGGED_FIELDS_MAX:
            raise OverBudgetError(f"{count} tagged fields, more than {TAGGED_FIELDS_MAX}")
        return count

    def read_unknown_tagged_fields(self) -> list[tuple[int, bytes]] | None:
        """Returns a tagged section of which no tag is known; None when it is empty."""
        count = self.read_tag_count()
        if count == 0:
            return None
        self.draw(LIST_COST)
        fields: list[tuple[int, bytes]] = []
        while count > 0:
            count -= 1
            tag = self.read_uvarint()
            fields.append((tag, self.read_unknown_tagged_field(self.read_uvarint())))
        return fields

    def read_unknown_tagged_field(self, size: i64) -> bytes:
        """Returns the value of a tagged field that is not known."""
        self.draw(TAG_COST)
        return self.read_raw(size)

    def begin_tagged_field(self) -> i64:
        """Reads the size of a tagged field; the position right after its value."""
        size = self.read_uvarint()
        if size > self.end - self.position:
            raise self.truncated(size)
        return self.position + size

    def end_tagged_field(self, end: i64) -> None:
        if self.position != end:
            raise DecodeError(f"tagged field ends at {self.position}, its size says {end}")


def write_int8(out: Writer, value: i64) -> None:
    if value < -128 or value > 127:
        raise EncodeError(f"{value} does not fit int8")
    out.append(u8(value & 0xFF))


def write_uint16(out: Writer, value: i64) -> None:
    if value < 0 or value > 0xFFFF:
        raise EncodeError(f"{value} does not fit uint16")
    write_i16_be(out, i16(value if value < 0x8000 else value - 0x10000))


def write_uint32(out: Writer, value: i64) -> None:
    if value < 0 or value > 0xFFFFFFFF:
        raise EncodeError(f"{value} does not fit uint32")
    write_i32_be(out, i32(value if value < 0x80000000 else value - 0x100000000))


def write_uuid(out: Writer, value: bytes) -> None:
    if len(value) != 16:
        raise EncodeError(f"UUID of {len(value)} bytes")
    out.write(value)


def write_uvarint(out: Writer, value: i64) -> None:
    if value < 0 or value > 0x7FFFFFFF:
        raise EncodeError(f"{value} does not fit an unsigned varint")
    while value >= 0x80:
        out.append(u8(value & 0x7F | 0x80))
        value >>= 7
    out.append(u8(value))


def write_varint(out: Writer, value: i64) -> None:
    """Appends a zigzag int of 32 bits."""
    if value < -0x80000000 or value > 0x7FFFFFFF:
        raise EncodeError(f"{value} does not fit a varint")
    write_varlong(out, value)


def write_varlong(out: Writer, value: i64) -> None:
    """Appends a zigzag int of 64 bits."""
    low = value & 0x3F
    sign: i64 = -1 if value < 0 else 0
    low = ((low << 1) ^ sign) & 0x7F
    rest = (value ^ sign) >> 6
    while rest != 0:
        out.append(u8(low | 0x80))
        low = rest & 0x7F
        rest >>= 7
    out.append(u8(low))


def write_string(out: Writer, value: str) -> None:
    raw = value.encode("utf-8")
    size: i64 = len(raw)
    if size > STRING_SIZE_MAX:
        raise EncodeError(f"string of {size} bytes")
    write_i16_be(out, i16(size))
    out.write(raw)


def write_nullable_string(out: Writer, value: str | None) -> None:
    if value is None:
        write_i16_be(out, -1)
    else:
        write_string(out, value)


def write_compact_string(out: Writer, value: str) -> None:
    raw = value.encode("utf-8")
    size: i64 = len(raw)
    if size > STRING_SIZE_MAX:
        raise EncodeError(f"string of {size} bytes")
    write_uvarint(out, size + 1)
    out.write(raw)


def write_compact_nullable_string(out: Writer, value: str | None) -> None:
    if value is None:
        out.append(0)
    else:
        write_compact_string(out, value)


def write_bytes(out: Writer, value: bytes) -> None:
    write_i32_be(out, len(value))
    out.write(value)


def write_nullable_bytes(out: Writer, value: bytes | None) -> None:
    if value is None:
        write_i32_be(out, -1)
    else:
        write_bytes(out, value)


def write_compact_bytes(out: Writer, value: bytes) -> None:
    write_uvarint(out, len(value) + 1)
    out.write(value)


def write_compact_nullable_bytes(out: Writer, value: bytes | None) -> None:
    if value is None:
        out.append(0)
    else:
        write_compact_bytes(out, value)
