"""Connections that authenticate by SASL: who is served, under which name, and what the others can hold."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import pytest

from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security import sasl_connection, unfinished_handshakes
from kraftctl.server.security.credential_lookup import CredentialsUnavailableError
from kraftctl.server.security.sasl_connection import SaslConnection
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from tests.server.connections.test_budgets import connect_from
from tests.server.security.naming_servers import BAD, NamingServer, NamingServers
from tests.server.security.sasl_serving import (
    answer_of,
    authenticate,
    send_token,
    serving_sasl,
    shake_hands,
)
from tests.server.security.ssl_serving import authority, connect_ssl, context_of, identity, stores
from tests.server.serving import (
    Client,
    both_loops,
    connect,
    eventually,
    expect_served,
    request_bytes,
    unregister,
)

VERSIONS = ApiVersionsRequest(client_software_name="client", client_software_version="1")

NO_DELAY = {"connection.failed.authentication.delay.ms": "0"}


def unauthenticated_count(server: SocketServer) -> int:
    return server.security.unauthenticated._count


@both_loops
async def test_a_client_is_served_under_the_name_by_which_it_has_authenticated() -> None:
    async with serving_sasl() as (server, handler):
        client = await connect(server)
        assert isinstance(await answer_of(client, VERSIONS, 4), ApiVersionsResponse)
        assert unauthenticated_count(server) == 1
        await authenticate(client, "alice")
        assert unauthenticated_count(server) == 0
        await expect_served(client)
        assert [str(each.principal) for each in handler.contexts] == ["User:ANONYMOUS", "User:alice"]
        assert server.metrics.authentications.successful_authentication_total == 1
        client.close()


async def test_tokens_may_come_without_headers() -> None:
    async with serving_sasl() as (server, handler):
        client = await connect(server)
        assert (await shake_hands(client, "ASKING", version=0)).error_code == 0
        for expected in (b"who?bob", b"welcome"):
            client.send(encode_frame(b"bob"))
            assert await client.frame() == expected
        await expect_served(client)
        assert str(handler.contexts[0].principal) == "User:bob"
        assert server.metrics.authentications.successful_authentication_no_reauth_total == 1
        client.close()


@both_loops
async def test_nothing_is_served_before() -> None:
    async with serving_sasl() as (server, handler):
        for before in ([], [VERSIONS], [VERSIONS, SaslHandshakeRequest("NAMING")]):
            client = await connect(server)
            for request in before:
                await answer_of(client, request, 1)
            client.request(unregister(5), 0)
            await client.expect_ended()
            client.close()
        assert not any(each.api_key == unregister(5).API_KEY for each in handler.contexts)
        await eventually(lambda: server.metrics.connections_count == 0)
        assert unauthenticated_count(server) == 0


async def test_requests_may_follow_the_last_token_immediately() -> None:
    """Also the beginning of one, which the decoder holds that is for tokens."""
    async with serving_sasl() as (server, handler):
        client = await connect(server)
        asked = encode_frame(request_bytes(unregister(5), 0))
        client.send(
            encode_frame(request_bytes(SaslHandshakeRequest("NAMING"), 1))
            + encode_frame(request_bytes(SaslAuthenticateRequest(b"alice"), 2))
            + asked
            + asked[:7]
        )
        for _ in range(3):
            await client.frame()
        client.send(asked[7:])
        await client.frame()
        assert [str(each.principal) for each in handler.contexts] == ["User:alice"] * 2
        client.close()


async def test_a_failure_is_answered_after_a_while() -> None:
    delay = {"connection.failed.authentication.delay.ms": "600"}
    async with serving_sasl(properties=delay) as (server, _):
        for mechanism, token, error in (
            ("NAMING", BAD, Errors.SASL_AUTHENTICATION_FAILED),
            ("GSSAPI", b"", Errors.UNSUPPORTED_SASL_MECHANISM),
        ):
            client = await connect(server)
            other = await connect(server)
            started_at = time.monotonic()
            answering: asyncio.Future[Any]
            if token:
                await shake_hands(client, mechanism)
                answering = asyncio.ensure_future(send_token(client, token))
            else:
                answering = asyncio.ensure_future(shake_hands(client, mechanism))
            await authenticate(other)
            await expect_served(other)
            assert not answering.done(), "others are served meanwhile"
            assert (await answering).error_code == error
            assert time.monotonic() - started_at >= 0.6
            await client.expect_closed()
            other.close()
        assert server.metrics.authentications.failed_authentication_total == 2


async def test_what_follows_a_failure_is_not_evaluated() -> None:
    async with serving_sasl() as (server, handler):
        client = await connect(server)
        await shake_hands(client)
        for token in (BAD, b"alice"):
            client.request(SaslAuthenticateRequest(token), 2)
        client.request(unregister(5), 0)
        await client.frame()
        await client.expect_closed()
        assert handler.contexts == []


async def test_a_client_that_leaves_while_its_failure_is_delayed_leaves_nothing() -> None:
    async with serving_sasl() as (server, _):
        client = await connect(server)
        await shake_hands(client)
        client.request(SaslAuthenticateRequest(BAD), 2)
        await eventually(lambda: server.metrics.authentications.failed_authentication_total == 1)
        client.close()
        await eventually(lambda: server.metrics.connections_count == 0)
        assert unauthenticated_count(server) == 0


@pytest.mark.parametrize("size", [1025, 100_000_000, -1])
async def test_frames_before_authentication_are_limited(size: int) -> None:
    async with serving_sasl(receive_bytes_max=1024) as (server, _):
        for is_renewed in (False, True):
            client = await connect(server)
            if is_renewed:
                await shake_hands(client)
            client.send(size.to_bytes(4, "big", signed=True) + bytes(20))
            await client.expect_closed()
        assert server.accounts.budget.held_bytes == 0


async def test_after_authentication_frames_have_the_limit_of_others() -> None:
    async with serving_sasl(receive_bytes_max=1024) as (server, _):
        client = await connect(server)
        await authenticate(client)
        client.request(ApiVersionsRequest(client_software_name="c" * 4096), 4)
        assert await client.frame()
        client.close()


async def test_who_is_not_authenticated_in_time_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sasl_connection, "AUTHENTICATION_SECONDS_MAX", 0.5)
    async with serving_sasl() as (server, _):
        served = await connect(server)
        await authenticate(served)
        for steps in range(2):
            client = await connect(server)
            if steps > 0:
                await shake_hands(client)
            await client.expect_closed()
        await expect_served(served)
        assert unauthenticated_count(server) == 0
        served.close()


async def test_the_oldest_of_the_most_crowded_address_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished_handshakes, "UNFINISHED_MAX", 4)
    async with serving_sasl() as (server, _):
        served = await connect(server)
        await authenticate(served)
        honest = await connect_from(server, "127.0.0.2")
        crowd = [await connect(server) for _ in range(6)]
        await crowd[0].expect_closed()
        await eventually(lambda: unauthenticated_count(server) == 4)
        await authenticate(honest)
        await expect_served(served)
        await authenticate(crowd[-1])
        for client in (served, honest, *crowd):
            client.close()


async def test_tokens_of_addresses_are_evaluated_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crowd of one address does not keep another from being authenticated."""
    evaluated: list[bytes] = []

    def evaluate(self: NamingServer, token: bytes, wall_ms: int) -> bytes:
        evaluated.append(token)
        return b""

    monkeypatch.setattr(NamingServer, "evaluate", evaluate)
    async with serving_sasl() as (server, _):
        crowd = [await connect(server) for _ in range(40)]
        honest = await connect_from(server, "127.0.0.2")
        for client in (*crowd, honest):
            await shake_hands(client)
        for client in (*crowd, honest):
            client.request(SaslAuthenticateRequest(b"honest" if client is honest else b"crowd"), 2)
        await eventually(lambda: len(evaluated) == 41)
        assert evaluated.index(b"honest") < 35
        for client in (*crowd, honest):
            client.close()


async def test_while_users_are_not_known_nobody_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    """A response SASL_AUTHENTICATION_FAILED ends the client; a closed connection is tried again."""

    class Unavailable(NamingServers):
        def server(self, mechanism: str) -> NamingServer:
            class Server(NamingServer):
                def evaluate(self, token: bytes, wall_ms: int) -> bytes:
                    raise CredentialsUnavailableError("the metadata log is not read yet")

            return Server(0, None)

    async def scenario() -> None:
        async with serving_sasl(Unavailable()) as (server, _):
            client = await connect(server)
            await shake_hands(client)
            client.request(SaslAuthenticateRequest(b"alice"), 2)
            await client.expect_closed()
            assert server.metrics.authentications.failed_authentication_total == 0
            assert "the metadata log is not read yet" in caplog.text

    with caplog.at_level(logging.WARNING):
        await scenario()


async def test_a_failing_mechanism_ends_one_connection(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(NamingServers):
        def server(self, mechanism: str) -> NamingServer:
            class Server(NamingServer):
                def evaluate(self, token: bytes, wall_ms: int) -> bytes:
                    raise ZeroDivisionError(token)

            return Server(0, None)

    async def scenario() -> None:
        async with serving_sasl(Broken()) as (server, _):
            served = await connect(server)
            client = await connect(server)
            await shake_hands(client)
            client.request(SaslAuthenticateRequest(b"s3cret"), 2)
            await client.expect_closed()
            await shake_hands(served)
            served.close()

    with caplog.at_level(logging.DEBUG):
        await scenario()
    assert "ZeroDivisionError" in caplog.text
    assert "s3cret" not in caplog.text


async def test_a_failure_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Names of users are in some: a client must not write lines of its own."""

    class Naming(NamingServers):
        def server(self, mechanism: str) -> NamingServer:
            class Server(NamingServer):
                def evaluate(self, token: bytes, wall_ms: int) -> bytes:
                    raise SaslAuthenticationError(f"no\n[2026-01-01] INFO {token.decode()}" + "x" * 100_000)

            return Server(0, None)

    async def scenario() -> None:
        async with serving_sasl(Naming(), properties=NO_DELAY) as (server, _):
            client = await connect(server)
            await shake_hands(client)
            await send_token(client, b"all is well")
            await client.expect_closed()

    with caplog.at_level(logging.WARNING):
        await scenario()
    (line,) = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"kraftctl.server.sasl"}
    assert "(no [2026-01-01] INFO all is well" in line
    assert len(line.splitlines()) == 1
    assert len(line) < 1_000


# Sessions.


async def test_a_session_that_has_expired_serves_nothing() -> None:
    async with serving_sasl(NamingServers(session_ms_max=500)) as (server, handler):
        client = await connect(server)
        assert (await authenticate(client)).session_lifetime_ms == 500
        await expect_served(client)
        await asyncio.sleep(0.51)  # the session's end is what is tested
        client.request(unregister(5), 0)
        await client.expect_closed()
        assert len(handler.contexts) == 1
        assert server.metrics.authentications.expired_connections_killed_count == 1


@both_loops
async def test_a_session_is_renewed() -> None:
    async with serving_sasl(NamingServers(session_ms_max=900)) as (server, handler):
        client = await connect(server)
        await authenticate(client)
        await expect_served(client)
        await asyncio.sleep(0.91)
        await authenticate(client)
        await expect_served(client)
        counts = server.metrics.authentications
        assert counts.successful_reauthentication_total == 1
        assert counts.successful_authentication_total == 1
        assert str(handler.contexts[-1].principal) == "User:alice"
        assert unauthenticated_count(server) == 0
        # Not again within a second: the request is served as any other, and refused (KIP-368).
        handler.refusing = True
        client.request(SaslHandshakeRequest("NAMING"), 1)
        await client.expect_closed()
        assert handler.contexts[-1].api_key == SaslHandshakeRequest.API_KEY


async def test_while_a_session_is_renewed_nothing_is_served() -> None:
    async with serving_sasl(NamingServers(session_ms_max=60_000)) as (server, handler):
        client = await connect(server)
        await authenticate(client)
        await shake_hands(client)
        client.request(unregister(5), 0)
        await client.expect_ended()
        assert handler.contexts == []


@pytest.mark.parametrize(("mechanism", "name"), [("NAMING", "bob"), ("ASKING", "alice")])
async def test_a_session_is_not_renewed_as_somebody_else(mechanism: str, name: str) -> None:
    async with serving_sasl(NamingServers(session_ms_max=60_000), properties=NO_DELAY) as (
        server,
        handler,
    ):
        client = await connect(server)
        await authenticate(client, "alice")
        await shake_hands(client, mechanism)
        client.request(SaslAuthenticateRequest(name.encode()), 2)
        await client.expect_ended()
        assert handler.contexts == []
        assert server.metrics.authentications.failed_reauthentication_total == 1


async def test_a_session_without_end_is_not_renewed() -> None:
    """As in Kafka: SaslHandshake is then a request as others, and refused by the node."""
    async with serving_sasl() as (server, handler):
        client = await connect(server)
        await authenticate(client)
        handler.refusing = True
        client.request(SaslHandshakeRequest("NAMING"), 1)
        await client.expect_ended()
        assert [each.api_key for each in handler.contexts] == [SaslHandshakeRequest.API_KEY]


# Over SSL.


@both_loops
async def test_over_ssl_the_name_is_that_of_sasl() -> None:
    properties = {
        "listener.security.protocol.map": "CONTROLLER:SSL",
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^CN=other$/x/",
        **stores(identity(), authority()),
    }
    async with serving_sasl(over_ssl=True, properties=properties) as (server, handler):
        client = await connect_ssl(server, context_of(identity("CN=broker")))
        await authenticate(client, "alice")
        await expect_served(client)
        assert str(handler.contexts[0].principal) == "User:alice"
        client.close()
        with pytest.raises((OSError, EOFError)):
            await shake_hands(await connect_ssl(server))


async def test_over_ssl_the_time_counts_from_the_end_of_the_handshake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sasl_connection, "AUTHENTICATION_SECONDS_MAX", 0.05)
    properties = {"listener.security.protocol.map": "CONTROLLER:SSL", **stores(identity(), authority())}
    async with serving_sasl(over_ssl=True, properties=properties) as (server, _):
        waiting = Client(*await asyncio.open_connection("127.0.0.1", server.bound_ports["CONTROLLER"]))
        await asyncio.sleep(0.07)
        assert server.metrics.connections_count == 1
        waiting.close()
        client = await connect_ssl(server)
        await client.expect_ended()


async def test_a_connection_serves_nothing_before_its_exchange_begins() -> None:
    """Whatever the order of calls: what decides is there from the construction on."""
    async with serving_sasl() as (server, handler):
        listener = server.listeners[0]
        assert listener.sasl is not None
        connection = SaslConnection(listener.owner(handler), listener.sasl)
        assert connection._exchange is not None
