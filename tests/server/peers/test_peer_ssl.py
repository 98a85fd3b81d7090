"""Streams over SSL to another controller: any records and any amount, on both loops."""

from __future__ import annotations

import asyncio

import pytest

from kraftctl.server.peers.peer_ssl import open_ssl_streams
from tests.server.security.ssl_serving import context_of, identity, node_context
from tests.server.serving import both_loops

SMALL = bytes(range(256)) * 8
LARGE = bytes(1 << 20)


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async def connect(protocol: asyncio.Protocol) -> asyncio.Transport:
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(lambda: protocol, "127.0.0.1", port))[0]

    return await open_ssl_streams(connect, context_of(identity("CN=client")), "127.0.0.1")


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers each byte: by a record for each byte of a text, by a long text, by an end."""
    await reader.readexactly(1)
    for value in SMALL:
        writer.write(bytes([value]))
    await reader.readexactly(1)
    writer.write(LARGE)
    await reader.readexactly(1)
    writer.close()


@both_loops
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
async def test_all_records_are_read_whatever_their_number(version: str) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", ssl=node_context(ssl__enabled__protocols=version))
    reader, writer = await connected(server.sockets[0].getsockname()[1])
    for expected in (SMALL, LARGE):
        writer.write(b"?")
        assert await reader.readexactly(len(expected)) == expected
    assert not reader.at_eof()
    writer.write(b"?")
    assert await reader.read() == b""
    assert writer.is_closing()
    server.close()


@both_loops
async def test_who_waits_is_woken_when_the_connection_is_aborted() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", ssl=node_context())
    reader, writer = await connected(server.sockets[0].getsockname()[1])
    waiting = asyncio.ensure_future(reader.readexactly(1))
    await asyncio.sleep(0)
    writer.transport.abort()
    with pytest.raises(asyncio.IncompleteReadError):
        await waiting
    server.close()
