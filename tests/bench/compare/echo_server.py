"""A uvloop server that returns what it receives: the least that a server in Python takes for a request."""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop


class Echo(asyncio.Protocol):
    """One connection."""

    _transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's own class

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


async def serve(port: int) -> None:
    """For ever."""
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
