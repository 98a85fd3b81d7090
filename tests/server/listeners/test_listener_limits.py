"""Garbage, half frames, slow readers, too many peers: memory stays bounded and others are served."""

from __future__ import annotations

import asyncio
import random
import tracemalloc

import pytest

from kraftctl.server.listeners.bound_sockets import ListenError
from kraftctl.server.listeners.listener import SocketServer
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from tests.server.serving import (
    Client,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
    unregister,
)


async def expect_served(server: SocketServer) -> None:
    """A well-behaved client gets its response."""
    client = await connect(server)
    client.request(unregister(1), 0)
    assert (await client.frame())[:4] == (7).to_bytes(4, "big")
    client.close()


GARBAGE = [
    pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="http"),
    pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500), id="tls-hello"),
    pytest.param(b"\xff\xff\xff\xff", id="negative-size"),
    pytest.param(b"\x7f\xff\xff\xff", id="size-2^31-1"),
    pytest.param((100 * 1024 * 1024 + 1).to_bytes(4, "big"), id="one-byte-over-socket-request-max"),
    pytest.param(encode_frame(b""), id="empty-frame"),
    pytest.param(encode_frame(b"\x00\x12\x00"), id="no-room-for-a-header"),
    pytest.param(encode_frame(bytes.fromhex("0000000900000001ffff")), id="produce"),
    pytest.param(encode_frame(bytes.fromhex("0003000900000001ffff")), id="metadata"),
    pytest.param(encode_frame(bytes.fromhex("03e7000000000001ffff")), id="unknown-api"),
    pytest.param(encode_frame(bytes.fromhex("ffff000000000001ffff")), id="negative-api"),
    pytest.param(encode_frame(bytes.fromhex("0038006300000001ffff")), id="unknown-version"),
    pytest.param(encode_frame(request_bytes(unregister(1), 0)[:-1]), id="cut-body"),
    pytest.param(encode_frame(bytes.fromhex("00400000000000017fff")), id="client-id-longer-than-frame"),
]


@both_loops
@pytest.mark.parametrize("data", GARBAGE)
async def test_malformed_input_closes_only_its_connection(data: bytes) -> None:
    async with serving() as (server, handler):
        client = await connect(server)
        client.send(data)
        await client.expect_closed()
        assert handler.requests == []
        await expect_served(server)
        await eventually(lambda: server.accounts.budget.held_bytes == 0)


async def test_random_bytes_never_reach_the_handler_as_anything_odd() -> None:
    generator = random.Random(20261121)
    async with serving() as (server, handler):
        handler.answer = lambda request: UnregisterBrokerResponse()
        for _ in range(300):
            client = await connect(server)
            payload = generator.randbytes(generator.randrange(8, 200))
            if generator.random() < 0.8:
                # A known API, so that the damage is in the body.
                payload = generator.choice([1, 18, 52, 56, 58, 62, 63]).to_bytes(2, "big") + payload[2:]
                payload = payload[:2] + generator.randrange(19).to_bytes(2, "big") + payload[4:]
            client.send(encode_frame(payload))
            client.writer.write_eof()
            await client.reader.read()
            client.close()
        await expect_served(server)


async def test_a_half_frame_costs_what_was_sent_not_what_was_announced() -> None:
    async with serving() as (server, _):
        tracemalloc.start()
        clients = [await connect(server) for _ in range(50)]
        for client in clients:
            client.send((100 * 1024 * 1024).to_bytes(4, "big") + b"x")
        await eventually(lambda: server.accounts.budget.held_bytes == 50 * 5)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 32 * 1024 * 1024
        await expect_served(server)
        for client in clients:
            client.close()
        await eventually(lambda: server.accounts.budget.held_bytes == 0)


async def test_unfinished_requests_of_all_connections_share_one_budget() -> None:
    limits = {"socket.request.max.bytes": "100000", "queued.max.request.bytes": "250000"}
    async with serving(limits) as (server, _):
        clients = [await connect(server) for _ in range(4)]
        for client in clients:
            client.send((100_000).to_bytes(4, "big") + bytes(90_000))
        closed = [asyncio.ensure_future(client.expect_closed()) for client in clients]
        await asyncio.wait(closed, return_when=asyncio.FIRST_COMPLETED)
        assert server.accounts.budget.held_bytes <= 250_000 + 100_000
        await expect_served(server)
        for client in clients:
            client.close()
        await asyncio.gather(*closed)


@both_loops
async def test_later_requests_are_not_read_without_end_while_one_is_parked() -> None:
    async with serving() as (server, handler):
        handler.holding = True
        client = await connect(server)
        client.request(unregister(0), 0)
        await handler.until(lambda: bool(handler.held))
        flood = encode_frame(request_bytes(unregister(1), 0))
        client.send(flood * (8 * 1024 * 1024 // len(flood)))
        await eventually(lambda: server.accounts.budget.held_bytes > 0)
        await asyncio.sleep(0.05)
        assert server.accounts.budget.held_bytes < 1024 * 1024
        handler.holding = False
        handler.release()
        await client.frame()
        await eventually(lambda: len(handler.requests) > 10_000)
        client.close()


@both_loops
async def test_a_slow_reader_gets_no_further_answers_until_it_reads() -> None:
    async with serving() as (server, handler):
        text = "x" * 30_000
        handler.answer = lambda request: UnregisterBrokerResponse(error_message=text)
        client = await connect(server)
        count = 20_000
        frame = encode_frame(request_bytes(unregister(1), 0))
        client.send(frame * count)
        await eventually(lambda: len(handler.requests) > 10)
        await asyncio.sleep(0.1)
        answered = len(handler.requests)
        assert answered < count
        buffered_bytes = sum(
            connection._transport.get_write_buffer_size() for connection in server.accounts.connections
        )
        assert 0 < buffered_bytes <= server.accounts.unsent.held_bytes < 2 * len(text), "one answer at a time"
        await expect_served(server)
        for _ in range(answered + 10):
            await client.frame()
        client.close()
        await eventually(lambda: server.accounts.unsent.held_bytes == 0)


async def test_a_thousand_idle_connections_cost_little_and_are_reaped() -> None:
    async with serving({"connections.max.idle.ms": "4000"}) as (server, handler):
        handler.holding = True
        parked = await connect(server)
        parked.request(unregister(9), 0)
        await handler.until(lambda: bool(handler.held))
        tracemalloc.start()
        clients: list[Client] = [await connect(server) for _ in range(1_000)]
        await eventually(lambda: server.accounts.quotas.count == 1_001)
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert used < 64 * 1024 * 1024, "both ends of a connection are counted here"
        await asyncio.gather(*(client.expect_closed() for client in clients))
        await eventually(lambda: server.accounts.quotas.count == 1)
        handler.release()
        assert (await parked.frame())[:4] == (7).to_bytes(4, "big"), "waiting for a response is not idle"
        for client in [parked, *clients]:
            client.close()


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({"max.connections": "2"}, id="in-total"),
        pytest.param({"max.connections.per.ip": "2"}, id="per-ip"),
        pytest.param(
            {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "127.0.0.1:2"}, id="override"
        ),
    ],
)
async def test_connections_over_the_limit_are_closed_and_places_become_free_again(
    limits: dict[str, str],
) -> None:
    async with serving(limits) as (server, _):
        first, second = await connect(server), await connect(server)
        await eventually(lambda: server.accounts.quotas.count == 2)
        await (await connect(server)).expect_closed()
        first.close()
        await eventually(lambda: server.accounts.quotas.count == 1)
        await expect_served(server)
        second.close()


async def test_a_port_in_use_is_named_with_what_to_do() -> None:
    async with serving() as (server, _):
        port = server.bound_ports["CONTROLLER"]
        with pytest.raises(ListenError, match=f"CONTROLLER://127.0.0.1:{port}: .*in use.*Next step"):
            async with serving({"listeners": f"CONTROLLER://127.0.0.1:{port}"}):
                pass


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", ""])
async def test_hosts_that_bind(host: str) -> None:
    async with serving({"listeners": f"CONTROLLER://{host}:0"}) as (server, handler):
        await expect_served(server)
        assert handler.contexts[0].client_address == bytes([127, 0, 0, 1])


async def test_stop_delivers_answers_already_written_and_frees_the_port() -> None:
    async with serving() as (server, _):
        client = await connect(server)
        client.request(unregister(4), 0)
        await client.frame()
        port = server.bound_ports["CONTROLLER"]
        await server.stop()
        await client.expect_closed()
        async with serving({"listeners": f"CONTROLLER://127.0.0.1:{port}"}) as (again, _):
            await expect_served(again)
