"""CRC-32C (Castagnoli), the checksum of record batches (KIP-98)."""

from __future__ import annotations

from crc32c import crc32c as _crc32c


def crc32c(data: bytes) -> int:
    """The checksum of the whole of `data`, as an unsigned 32-bit number."""
    return _crc32c(data)


def crc32c_of(data: bytes, start: int, end: int) -> int:
    """The checksum of `data[start:end]`, which is not copied."""
    return _crc32c(memoryview(data)[start:end])
