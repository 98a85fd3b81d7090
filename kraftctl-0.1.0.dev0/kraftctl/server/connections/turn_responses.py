"""Small responses leave together, once all sockets of a turn are read.

A response that leaves in between wakes its client, which competes with the rest of the turn for processors.
"""

from __future__ import annotations

import asyncio
from typing import Final

from mypy_extensions import mypyc_attr

COLLECTED_BYTES_MAX: Final = 4 * 1024
"""More than this is not collected for one connection; it is sent immediately."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ResponseBatching:
    """A connection with responses that are to leave."""

    def send_collected(self) -> None:
        """All sockets of the turn are read."""
        raise AssertionError("a subclass defines this")


class TurnResponses:
    """The connections that have collected answers in this turn, in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._connections: list[ResponseBatching] = []

    def add(self, connection: ResponseBatching) -> None:
        """Its `send_collected` is called once all sockets are read that had something in them."""
        if not self._connections:
            self._loop.call_soon(self._send)
        self._connections.append(connection)

    def _send(self) -> None:
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.send_collected()
