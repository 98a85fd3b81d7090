"""How a connection with SSL ends: by its client, politely or not, and by this side."""

from __future__ import annotations

import ssl

import pytest

from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.requests import decode_response
from tests.server.security.ssl_serving import connect_ssl, context_of, serving_ssl
from tests.server.serving import (
    UNREGISTER_BROKER,
    both_loops,
    connect,
    eventually,
    request_bytes,
    unregister,
)


@both_loops
async def test_the_end_of_a_client_is_noticed_either_way() -> None:
    async with serving_ssl() as (server, _):
        polite, abrupt = await connect_ssl(server), await connect_ssl(server)
        for client in (polite, abrupt):
            client.request(unregister(5), 0)
            await client.frame()
        polite.close()
        abrupt.writer.transport.abort()
        await eventually(lambda: server.metrics.connections_count == 0)


@both_loops
async def test_an_answer_to_a_connection_that_is_being_closed_is_no_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """After the end of records, OpenSSL takes no more."""
    async with serving_ssl() as (server, handler):
        handler.holding = True
        client = await connect_ssl(server)
        client.request(unregister(1), 0)
        await handler.until(lambda: bool(handler.held))
        (connection,) = server.accounts.connections
        connection._transport.close()
        handler.release()
        await client.expect_closed()
        await eventually(lambda: server.metrics.connections_count == 0)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@both_loops
async def test_a_request_that_comes_with_the_end_of_the_client_is_answered() -> None:
    """Its response waits for the end of the turn."""
    async with serving_ssl() as (server, _):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client_side = context_of().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
        client = await connect(server)
        while True:
            try:
                client_side.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.send(outgoing.read())
                incoming.write(await client.reader.read(65_536))
        client_side.write(encode_frame(request_bytes(unregister(3), 0)))
        with pytest.raises(ssl.SSLWantReadError):
            client_side.unwrap()
        client.send(outgoing.read())
        while received := await client.reader.read(65_536):
            incoming.write(received)
        answer = client_side.read(65_536)
        assert decode_response(answer[4:], UNREGISTER_BROKER, 0)[0] == 7
        client.close()
