"""Record batches for storage tests."""

from __future__ import annotations

from kraftctl_protocol.record_batch import encode_batch


def batch(base_offset: int, epoch: int = 1, count: int = 1, value: bytes = b"value") -> bytes:
    """One batch of `count` records, its timestamps rising with the offset."""
    return encode_batch(base_offset, epoch, 1_000 + base_offset, [value] * count)
