"""CRC-32C (Castagnoli), the checksum of record batches (KIP-98).

The variables are annotated because a build need not have `crc32c`: nothing then says what it returns.
"""

from __future__ import annotations

from crc32c import crc32c as _crc32c


def crc32c(data: bytes) -> int:
    """Returns the checksum of the whole of `data`, as an unsigned 32-bit number."""
    checksum: int = _crc32c(data)
    return checksum


def crc32c_of(data: bytes, start: int, end: int) -> int:
    """Returns the checksum of `data[start:end]`, which is not copied."""
    checksum: int = _crc32c(memoryview(data)[start:end])
    return checksum
