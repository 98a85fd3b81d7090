"""Listeners with SSL: who gets in and under which name, and that no budget is larger than with PLAINTEXT."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl

import pytest

from kraftctl.server.connections.connection import Connection
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security import ssl_transport, unfinished_handshakes
from kraftctl.server.security.ssl_transport import SslTransport
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.requests import decode_response
from tests.server.connections.test_budgets import (
    FETCH_VERSION,
    MIB,
    SMALL_BUFFER,
    FetchRequest,
    answer_fetches,
    connect_from,
)
from tests.server.security.ssl_serving import (
    BROKER,
    authority,
    connect_ssl,
    context_of,
    identity,
    serving_ssl,
)
from tests.server.serving import (
    UNREGISTER_BROKER,
    Client,
    Handler,
    both_loops,
    connect,
    eventually,
    expect_served,
    request_bytes,
    serving,
    unregister,
)
from tests.support.certificates import Authority
from tests.support.live_objects import live_objects

REQUIRED = {"ssl.client.auth": "required"}
REQUESTED = {"ssl.client.auth": "requested"}


async def principal(server: SocketServer, handler: Handler, context: ssl.SSLContext | None = None) -> str:
    """The name under which a request of a client with this context arrives."""
    client = await connect_ssl(server, context)
    await expect_served(client)
    client.close()
    return str(handler.contexts[-1].principal)


async def connections(server: SocketServer, count: int) -> None:
    """Wait until there are that many."""
    await eventually(lambda: server.metrics.connections_count == count)


async def expect_refused(server: SocketServer, context: ssl.SSLContext, host: str = "127.0.0.1") -> None:
    """With TLS 1.3 a client learns after its own handshake that its certificate is not accepted."""
    with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
        await expect_served(await connect_ssl(server, context, host))


@both_loops
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_both_versions_are_served(version: str) -> None:
    async with serving_ssl() as (server, handler):
        client = await connect_ssl(server, context_of(ssl__enabled__protocols=version))
        assert client.writer.get_extra_info("ssl_object").version() == version
        await expect_served(client)
        assert str(handler.contexts[0].principal) == "User:ANONYMOUS"
        assert handler.contexts[0].client_address == bytes([127, 0, 0, 1])
        client.close()


async def test_a_version_or_suite_that_is_not_enabled_is_refused() -> None:
    suites = {"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}
    async with serving_ssl(suites) as (server, _):
        await expect_refused(server, context_of(ssl__enabled__protocols="TLSv1.3"))
        other = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
        await expect_refused(server, context_of(ssl__cipher__suites=other))
        client = await connect_ssl(server)
        assert client.writer.get_extra_info("cipher")[0] == "ECDHE-ECDSA-AES128-GCM-SHA256"
        client.close()


@both_loops
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_the_name_of_a_client_is_the_subject_of_its_certificate(version: str) -> None:
    known = context_of(identity(BROKER), ssl__enabled__protocols=version)
    for properties in (REQUIRED, REQUESTED):
        async with serving_ssl(properties) as (server, handler):
            assert await principal(server, handler, known) == f"User:{BROKER}"
    async with serving_ssl() as (server, handler):
        assert await principal(server, handler, known) == "User:ANONYMOUS", "it was not asked for"


async def test_rules_give_a_client_its_name() -> None:
    rules = {"ssl.principal.mapping.rules": "RULE:^CN=(.*?),OU=brokers.*$/$1/U"}
    async with serving_ssl({**REQUIRED, **rules}) as (server, handler):
        assert await principal(server, handler, context_of(identity(BROKER))) == "User:BROKER-1"
        await expect_refused(server, context_of(identity("CN=unnamed")))


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_without_a_certificate(version: str) -> None:
    without = context_of(ssl__enabled__protocols=version)
    async with serving_ssl(REQUESTED) as (server, handler):
        assert await principal(server, handler, without) == "User:ANONYMOUS"
    async with serving_ssl(REQUIRED) as (server, handler):
        await expect_refused(server, without)
        assert handler.requests == []


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("properties", [REQUIRED, REQUESTED], ids=["required", "requested"])
async def test_a_certificate_that_is_not_accepted(
    properties: dict[str, str], version: str, caplog: pytest.LogCaptureFixture
) -> None:
    strangers = {
        "unable to get local issuer certificate": Authority("CN=Other").issue(BROKER),
        "certificate has expired": identity(BROKER, expired=True),
    }
    async with serving_ssl(properties) as (server, handler):
        for reason, own in strangers.items():
            await expect_refused(server, context_of(own, ssl__enabled__protocols=version))
            assert f"the certificate of the client is not accepted: {reason}" in caplog.text
        assert handler.requests == []


@both_loops
async def test_a_client_verifies_the_listener() -> None:
    async with serving_ssl() as (server, _):
        await expect_refused(server, context_of(trusted=Authority("CN=Other")))
        await expect_refused(server, context_of(), host="other.example")
        unchecked = context_of(ssl__endpoint__identification__algorithm="")
        await expect_served(await connect_ssl(server, unchecked, host="other.example"))
    async with serving_ssl(own=identity(expired=True)) as (server, _):
        await expect_refused(server, context_of())


async def test_an_intermediate_certificate_may_be_trusted() -> None:
    """As in Java: a certificate in the truststore ends the chain."""
    between = Authority("CN=Between", parent=authority())
    own = between.issue(BROKER)
    async with serving_ssl(REQUIRED) as (server, handler):
        assert await principal(server, handler, context_of(own)) == f"User:{BROKER}"
    trusts = {**REQUIRED, "ssl.truststore.certificates": between.pem}
    async with serving_ssl(trusts) as (server, handler):
        assert await principal(server, handler, context_of(own)) == f"User:{BROKER}"
        await expect_refused(server, context_of(identity(BROKER)))


# Clients that do not finish.


@both_loops
@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", encode_frame(request_bytes(unregister(1), 0))])
async def test_plaintext_is_closed_with_one_log_line(data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with serving_ssl() as (server, handler):
        for _ in range(20):
            client = await connect(server)
            client.send(data)
            await client.expect_closed()
        await connections(server, 0)
        assert handler.requests == []
        await expect_served(await connect_ssl(server))
    assert caplog.text.count("it does not begin with SSL") == 1


@both_loops
@pytest.mark.parametrize("data", [b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50)])
async def test_a_handshake_that_is_not_finished_in_time_is_closed(
    data: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ssl_transport, "HANDSHAKE_SECONDS_MAX", 0.6)
    async with serving_ssl() as (server, _):
        established = await connect_ssl(server)
        client = await connect(server)
        client.send(data)
        await client.expect_closed()
        await connections(server, 1)
        await expect_served(established)
    assert "the SSL handshake is not finished" in caplog.text
    assert {each.name for each in caplog.records if "SSL" in each.getMessage()} == {"kraftctl.server.ssl"}


async def test_a_handshake_that_does_not_end_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    """Valid records of a message that never is complete."""
    async with serving_ssl() as (server, _):
        client = await connect(server)
        # A ClientHello of 16 MB, in records of 16 kB. OpenSSL or the limit ends it.
        record = b"\x16\x03\x01\x40\x00"
        client.send(record + b"\x01\xff\xff\xff\x03\x03" + bytes(16_384 - 6))
        for _ in range(20):
            client.send(record + bytes(16_384))
        await client.expect_ended()
        await connections(server, 0)
    assert "Closing connection from" in caplog.text


@both_loops
async def test_a_handshake_may_arrive_byte_by_byte() -> None:
    async with serving_ssl() as (server, _):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client_side = context_of().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        client = await connect(server)
        while True:
            try:
                client_side.do_handshake()
                break
            except ssl.SSLWantReadError:
                for byte in outgoing.read():
                    client.send(bytes([byte]))
                    await asyncio.sleep(0)
                incoming.write(await client.reader.read(65_536))
        # The request follows the end of the handshake without a pause.
        client_side.write(encode_frame(request_bytes(unregister(3), 0)))
        client.send(outgoing.read())
        answer = b""
        while len(answer) < 4 or len(answer) < 4 + int.from_bytes(answer[:4], "big"):
            incoming.write(await client.reader.read(65_536))
            answer += client_side.read(65_536)
        assert decode_response(answer[4:], UNREGISTER_BROKER, 0)[0] == 7
        client.close()


async def test_unfinished_handshakes_count_as_connections() -> None:
    async with serving_ssl({"max.connections": "3"}) as (server, _):
        clients = [await connect(server) for _ in range(3)]
        await connections(server, 3)
        refused = await connect(server)
        await refused.expect_closed()
        for client in clients:
            client.close()
        await connections(server, 0)


@both_loops
async def test_of_too_many_unfinished_handshakes_the_oldest_of_the_crowd_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unfinished_handshakes, "UNFINISHED_MAX", 3)
    async with serving_ssl() as (server, _):
        clients = [await connect_from(server, "127.0.0.2")]
        established = [await connect_ssl(server) for _ in range(5)]
        for _ in range(3):
            clients.append(await connect_from(server, "127.0.0.1"))
            if len(clients) < 4:
                await connections(server, len(clients) + len(established))
        await clients[1].expect_closed()
        await connections(server, 3 + len(established))
        for client in (clients[0], *clients[2:]):
            client.close()
        for client in established:
            await expect_served(client)
        await connections(server, len(established))
        for _ in range(5):
            await expect_served(await connect_ssl(server))


# Bytes, as with PLAINTEXT.


@both_loops
async def test_requests_and_answers_of_any_size() -> None:
    async with serving_ssl() as (server, handler):
        client = await connect_ssl(server)
        for size in (0, 1, 16_384, 100_000, 3 * MIB):
            answer_fetches(handler, size)
            client.request(FetchRequest(), FETCH_VERSION)
            assert size < len(await client.frame()) < size + 100
        for number in range(300):
            client.request(unregister(number), 0, correlation_id=number)
        for number in range(300):
            assert decode_response(await client.frame(), UNREGISTER_BROKER, 0)[0] == number
        client.close()


@both_loops
async def test_answers_that_are_not_read_are_counted() -> None:
    """One answer for each connection, although its client asks for more."""
    async with serving_ssl(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, 2 * MIB)
        clients = [await connect_slowly(server) for _ in range(4)]
        for client in clients:
            for _ in range(3):
                client.request(FetchRequest(), FETCH_VERSION)
        await eventually(lambda: server.accounts.unsent.held_bytes > 8 * MIB)
        assert server.accounts.unsent.held_bytes < 8 * MIB + 1_000
        assert len(handler.requests) == 4
        sockets = server.accounts.connections
        assert sum(each._transport.get_write_buffer_size() for each in sockets) < 8.5 * MIB
        for client in clients:
            for _ in range(3):
                assert len(await client.frame()) > 2 * MIB
        await eventually(lambda: server.accounts.unsent.held_bytes == 0)
        for client in clients:
            client.writer.transport.abort()


@both_loops
async def test_the_slowest_readers_are_closed() -> None:
    async with serving_ssl(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = 3 * MIB
        clients = [await connect_slowly(server) for _ in range(6)]
        for client in clients:
            client.request(FetchRequest(), FETCH_VERSION)
        await eventually(lambda: server.metrics.closed_holders_count >= 3)
        assert server.accounts.unsent.held_bytes <= 3 * MIB
        for client in clients:
            client.writer.transport.abort()


@both_loops
async def test_of_a_busy_connection_no_more_is_received() -> None:
    async with serving_ssl() as (server, handler):
        handler.holding = True
        client = await connect_ssl(server)
        client.send(encode_frame(request_bytes(unregister(1), 0)) * 200_000)
        await handler.until(lambda: bool(handler.held))
        await eventually(lambda: server.accounts.budget.held_bytes > 0)
        for _ in range(50):
            await asyncio.sleep(0.002)
        assert server.accounts.budget.held_bytes < MIB
        client.writer.transport.abort()


async def test_a_closed_connection_is_freed_without_the_collector() -> None:
    def count() -> tuple[int, int]:
        return len(live_objects(Connection)), len(live_objects(SslTransport))

    gc.collect()  # tests before this one hold connections in cycles of their own
    connections, transports = count()
    async with serving_ssl() as (server, _):
        client = await connect_ssl(server)
        await expect_served(client)
        assert count() == (connections + 1, transports + 1)
        gc.disable()
        try:
            client.close()
            await eventually(lambda: count() == (connections, transports))
        finally:
            gc.enable()


async def test_ssl_on_a_plaintext_listener_is_closed() -> None:
    async with serving() as (server, _):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await connect_ssl(server)


async def connect_slowly(server: SocketServer) -> Client:
    """A client that takes in only some kilobytes before a test reads."""
    own = socket.socket()
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    own.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(own, ("127.0.0.1", server.bound_ports["CONTROLLER"]))
    opened = asyncio.open_connection(sock=own, limit=4096, ssl=context_of(), server_hostname="127.0.0.1")
    return Client(*await opened)
