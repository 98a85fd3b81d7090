"""Names of hosts are looked up on threads of their own: a name server may take half a minute.

The resolver of the event loop has two threads for that, and the process cannot end while it waits: two names
that are not answered would delay the third, and every stop.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Final

from kraftctl.server.process.detached_calls import SharedCalls, call_detached

AddressInfo = tuple[int, int, int, str, tuple[object, ...]]
"""A result of `socket.getaddrinfo`."""

_LOOKUPS: Final = SharedCalls()


async def addresses_of(host: str, port: int, *, flags: int = 0) -> list[AddressInfo]:
    """Returns the resolver's addresses, in its order; an address is its own. Raises OSError."""
    look = partial(_look, host, port)
    try:
        return look(flags | socket.AI_NUMERICHOST)
    except socket.gaierror:
        key = (asyncio.get_running_loop(), host, port, flags)
        return await _LOOKUPS.call(key, partial(look, flags))


async def own_name() -> str:
    """Returns the qualified name of this machine, according to the resolver."""
    return await call_detached(socket.getfqdn)


def _look(host: str, port: int, flags: int) -> list[AddressInfo]:
    return [*socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)]
