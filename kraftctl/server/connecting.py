"""A connection to another controller, or the knowledge that none of its addresses accepts one."""

from __future__ import annotations

import asyncio
import socket
import ssl

from kraftctl.server.name_lookup import addresses_of
from kraftctl_security.authentication_failures import failure_of_ssl


class RefusedError(OSError):
    """All addresses refuse connections, or close them before they say anything."""


async def connect(
    host: str, port: int, context: ssl.SSLContext | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """To the first address of `host` that accepts, with SSL if there is a `context`.

    Raises RefusedError when each refuses, AuthenticationFailedError when SSL fails, else OSError.

    `asyncio.open_connection` makes one text of several errors, and does not say what they have in common.
    """
    loop = asyncio.get_running_loop()
    errors: list[OSError] = []
    for family, kind, protocol, _, address in await addresses_of(host, port):
        try:
            sock = socket.socket(family, kind, protocol)
        except OSError as error:
            errors.append(error)
            continue
        try:
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
            if context is None:
                return await asyncio.open_connection(sock=sock)
            return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=host)
        except OSError as error:
            sock.close()
            errors.append(error)
        except BaseException:
            sock.close()
            raise
    text = "; ".join(dict.fromkeys(str(error) for error in errors)) or f"{host} has no address"
    if errors and all(isinstance(error, ConnectionRefusedError | ConnectionResetError) for error in errors):
        raise RefusedError(text)
    for each in errors:
        if isinstance(each, ssl.SSLError) and (failure := failure_of_ssl(each)) is not None:
            raise failure from each
    raise OSError(text)
