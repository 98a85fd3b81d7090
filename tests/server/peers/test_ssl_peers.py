"""Requests to other controllers over SSL: with an own certificate, and to verified controllers only."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.server.controller_server import peers_context
from kraftctl.server.listeners.listener import SocketServer
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_security.tls.store_error import StoreError
from tests.server.peers.test_peers import Asker
from tests.server.security.ssl_serving import authority, identity, node_context, serving_ssl, stores
from tests.server.serving import PROPERTIES, Handler, both_loops, unregister
from tests.support.certificates import Authority, Identity

REQUIRED = {"ssl.client.auth": "required"}
NAME = "CN=controller-2,OU=controllers"


def config(own: Identity, trusted: Authority, **changes: str) -> ControllerConfig:
    """Of a controller with this keystore on its first controller listener, and none on the second."""
    named = {key.replace("__", "."): value for key, value in changes.items()}
    first = {f"listener.name.controller.{key}": value for key, value in stores(own, trusted).items()}
    listeners = {
        "controller.listener.names": "CONTROLLER,ADMIN",
        "listeners": "CONTROLLER://127.0.0.1:0,ADMIN://127.0.0.1:0",
        "listener.security.protocol.map": "CONTROLLER:SSL,ADMIN:PLAINTEXT",
    }
    return ControllerConfig({**PROPERTIES, **listeners, **first, **named})


def answer(request: Message) -> Message:
    if isinstance(request, ApiVersionsRequest):
        known = [ApiVersion(api_key=key, min_version=0, max_version=high) for key, high in ((18, 4), (64, 0))]
        return ApiVersionsResponse(api_keys=known)
    return UnregisterBrokerResponse(throttle_time_ms=7)


async def asked(
    server: SocketServer, handler: Handler, found: ControllerConfig, host: str = "127.0.0.1"
) -> tuple[Message | None, set[int]]:
    """The response to one request of a controller with this configuration, and whether it was refused."""
    handler.answer = answer
    asker = Asker(server.bound_ports["CONTROLLER"], peers_context(found))
    asker.host = host
    asker.ask(1, unregister(1))
    response = await asker.answer_to(1)
    await asker.peers.stop()
    return response, asker.refused


@both_loops
async def test_a_controller_shows_the_certificate_of_its_first_listener() -> None:
    async with serving_ssl(REQUIRED) as (server, handler):
        response, _ = await asked(server, handler, config(identity(NAME), authority()))
        assert response == UnregisterBrokerResponse(throttle_time_ms=7)
        assert {str(context.principal) for context in handler.contexts} == {f"User:{NAME}"}


def test_controllers_reach_each_other_by_the_first_listener() -> None:
    other = config(identity(NAME), authority(), controller__listener__names="ADMIN,CONTROLLER")
    assert peers_context(other) is None


@both_loops
async def test_a_peer_that_is_not_what_it_should_be_gets_no_request(caplog: pytest.LogCaptureFixture) -> None:
    async with serving_ssl() as (server, handler):
        stranger = config(identity(NAME), Authority("CN=Other"))
        assert await asked(server, handler, stranger) == (None, set())
        elsewhere = config(identity(NAME), authority())
        assert await asked(server, handler, elsewhere, "localhost") == (None, set())
        assert handler.requests == []
        key = "listener__name__controller__ssl__endpoint__identification__algorithm"
        unchecked = config(identity(NAME), authority(), **{key: ""})
        response, _ = await asked(server, handler, unchecked, "localhost")
        assert response is not None
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("certificate verify failed: self-signed" in each for each in warnings)
    assert any("Hostname mismatch" in each for each in warnings)


@both_loops
async def test_a_controller_whose_certificate_is_not_accepted_gets_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Although the connection is closed before a response, no election begins: the peer lives."""
    async with serving_ssl(REQUIRED) as (server, handler):
        stranger = config(Authority("CN=Other").issue(NAME), authority())
        assert await asked(server, handler, stranger) == (None, set())
        assert handler.requests == []
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "kraftctl.server.peers"]
    assert "UNKNOWN_CA. Next step: check ssl.keystore.* of the listener" in warning


@both_loops
async def test_a_connection_that_is_closed_during_the_handshake_is_refused() -> None:
    """By a process that ends, or by a proxy in front of none."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    asker = Asker(server.sockets[0].getsockname()[1], peers_context(config(identity(NAME), authority())))
    asker.ask(1, unregister(1))
    assert await asker.answer_to(1) is None
    assert asker.refused == {1}
    await asker.peers.stop()
    server.close()


@both_loops
async def test_a_connection_that_is_closed_after_the_handshake_is_not_refused() -> None:
    """The process lives; it may not accept the certificate, and not say so."""
    server = await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", ssl=node_context(identity())
    )
    asker = Asker(server.sockets[0].getsockname()[1], peers_context(config(identity(NAME), authority())))
    asker.ask(1, unregister(1))
    assert await asker.answer_to(1) is None
    assert asker.refused == set()
    await asker.peers.stop()
    server.close()


@both_loops
async def test_a_connection_that_is_reset_after_the_handshake_is_not_refused() -> None:
    """So it ends where the process closes it while it has not read the first request."""

    def reset(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    server = await asyncio.start_server(reset, "127.0.0.1", ssl=node_context(identity()))
    asker = Asker(server.sockets[0].getsockname()[1], peers_context(config(identity(NAME), authority())))
    asker.ask(1, unregister(1))
    assert await asker.answer_to(1) is None
    assert asker.refused == set()
    await asker.peers.stop()
    server.close()


@both_loops
async def test_a_peer_that_does_not_answer_the_handshake_times_out() -> None:
    connected: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: connected.append(writer), "127.0.0.1")
    asker = Asker(server.sockets[0].getsockname()[1], peers_context(config(identity(NAME), authority())))
    asker.ask(1, unregister(1))
    assert await asker.answer_to(1) is None
    assert asker.refused == set()
    assert len(connected) == 1
    await asker.peers.stop()
    connected[0].close()
    server.close()


def test_a_keystore_that_cannot_be_used_is_refused_before_anything_is_opened() -> None:
    key = "listener__name__controller__ssl__keystore__certificate__chain"
    found = config(identity(NAME), authority(), **{key: identity("CN=other").certificates_pem})
    with pytest.raises(StoreError, match="the first certificate is not that of the private key"):
        peers_context(found)
