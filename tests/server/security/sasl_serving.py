"""A SocketServer whose listener uses SASL, by mechanisms of the test, and the client's side of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security.sasl_exchange import SaslServers
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response
from tests.server.security.naming_servers import NamingServers
from tests.server.serving import Client, Handler, serving

AUTHENTICATE_VERSION = 2


@asynccontextmanager
async def serving_sasl(
    servers: SaslServers | None = None,
    *,
    properties: dict[str, str] | None = None,
    over_ssl: bool = False,
    receive_bytes_max: int = 512 * 1024,
) -> AsyncIterator[tuple[SocketServer, Handler]]:
    async with serving(properties) as (server, handler):
        for listener in server.listeners:
            listener.sasl = server.security.sasl_listener(
                servers or NamingServers(), over_ssl=over_ssl, receive_bytes_max=receive_bytes_max
            )
            if listener.ssl is not None:
                listener.ssl.mapper = None  # as for SASL_SSL
        yield server, handler


async def answer_of(client: Client, request: Message, version: int) -> Message:
    client.request(request, version)
    assert request.API_KEY is not None
    return decode_response(await client.frame(), request.API_KEY, version)[1]


async def shake_hands(client: Client, mechanism: str = "NAMING", version: int = 1) -> SaslHandshakeResponse:
    answer = await answer_of(client, SaslHandshakeRequest(mechanism), version)
    assert isinstance(answer, SaslHandshakeResponse)
    return answer


async def send_token(
    client: Client, token: bytes, version: int = AUTHENTICATE_VERSION
) -> SaslAuthenticateResponse:
    answer = await answer_of(client, SaslAuthenticateRequest(token), version)
    assert isinstance(answer, SaslAuthenticateResponse)
    return answer


async def authenticate(client: Client, name: str = "alice") -> SaslAuthenticateResponse:
    assert (await shake_hands(client)).error_code == 0
    answer = await send_token(client, name.encode())
    assert answer.error_code == 0
    return answer
