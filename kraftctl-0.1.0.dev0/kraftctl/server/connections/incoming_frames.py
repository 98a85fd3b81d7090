"""IncomingFrames: what a client has sent that is not served yet, as whole frames and the beginning of one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from librt.strings import read_i32_be

from kraftctl_protocol.frames import SIZE_PREFIX_BYTES, UNCHECKED_BYTES_MAX, FrameDecoder


class IncomingFrames:
    """Keeps frames in order. Most connections never have one that waits, and then have no queue."""

    def __init__(self, frame_bytes_max: int) -> None:
        self._decoder = FrameDecoder(frame_bytes_max)
        self._whole: deque[bytes] | None = None
        self.counted_bytes = 0
        """What the budget of all connections counts for this one; it may be more than is held now."""

    def limit(self, frame_bytes_max: int, limit_of_kind: Callable[[bytes], int] | None) -> None:
        """Limits frames that come next, also one whose beginning has come. Raises FrameError."""
        beginning = self._decoder.take()
        self._decoder = FrameDecoder(frame_bytes_max, limit_of_kind)
        if beginning:
            self._decoder.feed(beginning)

    def only_frame(self, data: bytes) -> bytes | None:
        """Returns the payload if `data` is one frame and nothing is held; otherwise `data` has to be fed.

        A client sends its next request after the response, so one read is usually one frame. It is cut
        without a decoder, its list and its queue.
        """
        payload_bytes = len(data) - SIZE_PREFIX_BYTES
        if payload_bytes < 0 or payload_bytes > UNCHECKED_BYTES_MAX or self._whole is not None:
            return None
        decoder = self._decoder
        if read_i32_be(data, 0) != payload_bytes or payload_bytes > decoder.max_frame_bytes:
            return None
        return None if decoder.held_bytes else data[SIZE_PREFIX_BYTES:]

    def feed(self, data: bytes) -> bool:
        """Returns whether `data` completes a frame. Raises FrameError."""
        frames = self._decoder.feed(data)
        if not frames:
            return False
        if self._whole is None:
            self._whole = deque(frames)
        else:
            self._whole.extend(frames)
        return True

    @property
    def has_frame(self) -> bool:
        """Returns whether a whole frame is held."""
        return self._whole is not None

    def take(self) -> bytes:
        """Removes and returns the first frame; there is one."""
        whole = self._whole
        assert whole is not None, "has_frame"
        frame = whole.popleft()
        if not whole:
            self._whole = None
        return frame

    def put_back(self, frame: bytes) -> None:
        """Puts a frame that was taken before the others."""
        if self._whole is None:
            self._whole = deque()
        self._whole.appendleft(frame)

    @property
    def unfinished_bytes(self) -> int:
        """Returns the bytes of the frame that has begun to come."""
        return self._decoder.held_bytes

    @property
    def held_bytes(self) -> int:
        """Returns the bytes of whole frames and of the beginning of one."""
        held_bytes = self._decoder.held_bytes
        return held_bytes if self._whole is None else held_bytes + sum(map(len, self._whole))

    def drop_whole(self) -> None:
        """Drops the frames that wait."""
        self._whole = None

    def clear(self) -> None:
        """Drops what is held, whole or not."""
        self._whole = None
        self._decoder.clear()
