"""ResponseWriter: writes responses to a socket, small ones together at the end of a turn."""

from __future__ import annotations

import asyncio
from typing import Final

from kraftctl.server.connections.turn_responses import COLLECTED_BYTES_MAX
from kraftctl_protocol.frames import encode_frame, encode_size

GATHERED_BYTES_MIN: Final = 64 * 1024
"""A response from this size on is not copied once more to put its size before it."""


class ResponseWriter:
    """Keeps responses in order: what is collected leaves before what is written."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._collected = b""

    @property
    def collected_bytes(self) -> int:
        """Returns the size of what leaves at the end of this turn."""
        return len(self._collected)

    @property
    def has_room(self) -> bool:
        """Returns whether the response to one more request may be collected."""
        return len(self._collected) < COLLECTED_BYTES_MAX

    def collect(self, payload: bytes) -> None:
        """Adds a response to those that leave at the end of this turn."""
        self._collected += encode_frame(payload)

    def write(self, pieces: list[bytes], payload_bytes: int) -> None:
        """Writes a response immediately."""
        self.write_collected()
        if payload_bytes < GATHERED_BYTES_MIN:
            self._transport.write(encode_frame(pieces[0] if len(pieces) == 1 else b"".join(pieces)))
            return
        self._transport.writelines((encode_size(payload_bytes), *pieces))
        if self._transport.get_write_buffer_size() > 0:
            # writelines() of asyncio in CPython 3.12 and 3.13 does not call pause_writing(); this does.
            self._transport.set_write_buffer_limits(high=0)

    def write_collected(self) -> None:
        """Writes what was collected."""
        if self._collected:
            collected, self._collected = self._collected, b""
            self._transport.write(collected)

    def drop(self) -> None:
        """Drops what was collected."""
        self._collected = b""
