"""Cuts a byte stream into Kafka's frames: a big-endian int32 size, then that many bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from librt.strings import read_i32_be

from kraftctl_protocol.primitives import DecodeError

SIZE_PREFIX_BYTES: Final = 4
FRAME_BYTES_MAX_DEFAULT: Final = 104_857_600
"""Kafka's default of `socket.request.max.bytes`."""

KIND_BYTES: Final = 4
"""The first bytes of a request's payload: API key and version. They decide how long it may be."""

HEAD_BYTES: Final = 64
"""A FrameError keeps this many of the bytes that are not a frame."""

UNCHECKED_BYTES_MAX: Final = 64 * 1024
"""A request of any kind may have this size; the kind is only looked at for longer ones."""


def encode_frame(payload: bytes) -> bytes:
    """Returns `payload` after its size."""
    return encode_size(len(payload)) + payload


def encode_size(payload_bytes: int) -> bytes:
    """Returns the size that precedes a payload."""
    return payload_bytes.to_bytes(SIZE_PREFIX_BYTES, "big")


class FrameError(DecodeError):
    """The next bytes are not a frame; `head` has the first of them, including those of the size."""

    def __init__(self, text: str, head: bytes) -> None:
        super().__init__(text)
        self.head = head


class FrameDecoder:
    """Takes bytes and returns whole frames; it holds at most one unfinished frame.

    `frame_limit`, if there is one, returns the size limit of a payload that begins with these `KIND_BYTES`;
    the size of a larger frame is checked as soon as they have come. After a FrameError the stream is
    unusable: close the connection.
    """

    def __init__(
        self,
        max_frame_bytes: int = FRAME_BYTES_MAX_DEFAULT,
        frame_limit: Callable[[bytes], int] | None = None,
    ) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._frame_limit = frame_limit
        # One growing buffer: a list of the pieces would cost 30 times what it holds when they are small.
        self._held = bytearray()
        self._needed_bytes = SIZE_PREFIX_BYTES

    @property
    def held_bytes(self) -> int:
        """The bytes of an unfinished frame."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the payloads that `data` completes, in order."""
        if not self._held:
            return self._cut(data)
        if len(self._held) + len(data) < self._needed_bytes:
            self._held += data
            return []
        return self._complete(data)

    def take(self) -> bytes:
        """Returns the beginning of an unfinished frame, with its size, to be fed to another decoder."""
        held = bytes(self._held)
        self.clear()
        return held

    def clear(self) -> None:
        """Drops the unfinished frame."""
        self._held = bytearray()

    def _complete(self, data: bytes) -> list[bytes]:
        """Handles `data` that completes what was missing: the size, the kind or the frame."""
        if len(self._held) < SIZE_PREFIX_BYTES + KIND_BYTES:
            data = bytes(self._held) + data
            self.clear()
            return self._cut(data)
        missing_bytes = self._needed_bytes - len(self._held)
        # The buffer is not copied before the frame is taken out of it: a frame may be 100 MB.
        self._held += data[:missing_bytes]
        frame = bytes(memoryview(self._held)[SIZE_PREFIX_BYTES:])
        self.clear()
        return [frame, *self._cut(data[missing_bytes:])]

    def _cut(self, data: bytes) -> list[bytes]:
        frames: list[bytes] = []
        position = 0
        end = len(data)
        self._needed_bytes = SIZE_PREFIX_BYTES
        while end - position >= SIZE_PREFIX_BYTES:
            size = int(read_i32_be(data, position))
            if size < 0 or size > self.max_frame_bytes:
                raise FrameError(self._why_no_size(size), data[position : position + HEAD_BYTES])
            frame_end = position + SIZE_PREFIX_BYTES + size
            if size > UNCHECKED_BYTES_MAX and self._frame_limit is not None:
                kind_end = position + SIZE_PREFIX_BYTES + KIND_BYTES
                if kind_end > end:
                    self._needed_bytes = SIZE_PREFIX_BYTES + KIND_BYTES
                    break
                limit = self._frame_limit(data[kind_end - KIND_BYTES : kind_end])
                if size > limit:
                    text = (
                        f"frame of {size} bytes, more than the {limit} that this client may send of its API"
                    )
                    raise FrameError(text, data[position : position + HEAD_BYTES])
            if frame_end > end:
                self._needed_bytes = SIZE_PREFIX_BYTES + size
                break
            frames.append(data[position + SIZE_PREFIX_BYTES : frame_end])
            position = frame_end
        if position < end:
            self._held = bytearray(data[position:])
        return frames

    def _why_no_size(self, size: int) -> str:
        if size < 0:
            return f"frame of negative size {size}"
        return f"frame of {size} bytes, more than the {self.max_frame_bytes} that are allowed"
