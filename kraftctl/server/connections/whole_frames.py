"""Data that is exactly one frame is cut without a decoder, its lists and its queue.

As the next request comes after the response, nearly all data is. direct_calls.py says what both bring.
"""

from __future__ import annotations

from librt.strings import read_i32_be

from kraftctl_protocol.frames import SIZE_PREFIX_BYTES, UNCHECKED_BYTES_MAX, FrameDecoder


def whole_frame(decoder: FrameDecoder, data: bytes) -> bytes | None:
    """The payload of `data` if it is one frame; None if it has to be fed to `decoder`."""
    payload_bytes = len(data) - SIZE_PREFIX_BYTES
    if payload_bytes < 0 or payload_bytes > UNCHECKED_BYTES_MAX:
        return None
    if read_i32_be(data, 0) != payload_bytes or payload_bytes > decoder.max_frame_bytes:
        return None
    return None if decoder.held_bytes else data[SIZE_PREFIX_BYTES:]
