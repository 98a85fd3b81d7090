"""Encoded bytes in which one int32 counts up, wherever it occurs: a frame for each value without encoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

INT32_BYTES: Final = 4
ALL_BYTES_DIFFER: Final = 0x01010101


class Counted:
    """What `encode(value)` returns, for any value, in a buffer of its own.

    The places are found by comparing two encodings. There may be hundreds of them, at equal distances (one in
    each of many equal partitions): each byte of the int32 is then one assignment to a slice.
    """

    def __init__(self, encode: Callable[[int], bytes]) -> None:
        zero, other = encode(0), encode(ALL_BYTES_DIFFER)
        assert len(zero) == len(other), "the value changes the length"
        differing = [at for at, (one, two) in enumerate(zip(zero, other, strict=True)) if one != two]
        starts = differing[::INT32_BYTES]
        distance = starts[1] - starts[0] if len(starts) > 1 else INT32_BYTES
        expected = [start + byte for start in starts for byte in range(INT32_BYTES)]
        assert differing == expected, "not an int32 that occurs alone"
        assert starts == list(range(starts[0], starts[-1] + 1, distance)), "not at equal distances"
        self._buffer = bytearray(zero)
        self._slices = [
            slice(starts[0] + byte, starts[-1] + byte + 1, distance) for byte in range(INT32_BYTES)
        ]
        self._count = len(starts)
        self._value = bytes(INT32_BYTES)

    def at(self, value: int) -> bytearray:
        """The bytes with this value; the same buffer each time."""
        encoded = value.to_bytes(INT32_BYTES, "big")
        for byte, place in enumerate(self._slices):
            if encoded[byte] != self._value[byte]:
                self._buffer[place] = encoded[byte : byte + 1] * self._count
        self._value = encoded
        return self._buffer
