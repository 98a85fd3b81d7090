"""Answers given while the sockets of a turn are read leave together, in order, and none is lost."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

from kraftctl.server.connections.turn_responses import COLLECTED_BYTES_MAX
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response
from tests.server.serving import (
    UNREGISTER_BROKER,
    Handler,
    answer,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
    unregister,
)

CLIENTS = 5


def frames(*broker_ids: int) -> bytes:
    return b"".join(encode_frame(request_bytes(unregister(id_), 0, correlation_id=id_)) for id_ in broker_ids)


def correlation_id(frame: bytes) -> int:
    return decode_response(frame, UNREGISTER_BROKER, 0)[0]


def padded(handler: Handler, long: set[int]) -> None:
    """Answers to these ids are too long to be collected."""

    def padded_answer(request: Message) -> Message:
        response = answer(request)
        assert isinstance(response, UnregisterBrokerResponse)
        if response.throttle_time_ms in long:
            response.error_message = "x" * 2 * COLLECTED_BYTES_MAX
        return response

    handler.answer = padded_answer


def has_answer(client: socket.socket) -> bool:
    try:
        return bool(client.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


@both_loops
async def test_no_answer_leaves_before_all_sockets_of_the_turn_are_read() -> None:
    async with serving() as (server, handler):
        address = ("127.0.0.1", server.bound_ports["CONTROLLER"])
        clients = [socket.create_connection(address) for _ in range(CLIENTS)]
        await eventually(lambda: server.accounts.quotas.count == CLIENTS)
        seen: list[int] = []

        def counting(request: Message) -> Message:
            seen.append(sum(map(has_answer, clients)))
            return answer(request)

        handler.answer = counting
        for number, client in enumerate(clients):
            client.sendall(frames(number))
        await handler.until(lambda: len(handler.requests) == CLIENTS)
        await eventually(lambda: all(map(has_answer, clients)))
        assert seen == [0] * CLIENTS
        for client in clients:
            client.close()


@both_loops
async def test_answers_to_one_connection_keep_their_order_whatever_their_lengths() -> None:
    async with serving() as (server, handler):
        padded(handler, {2, 3, 5})
        client = await connect(server)
        client.send(frames(*range(8)))
        assert [correlation_id(await client.frame()) for _ in range(8)] == list(range(8))
        client.close()


@both_loops
async def test_a_refusal_comes_after_the_answers_before_it() -> None:
    async with serving() as (server, _):
        client = await connect(server)
        client.send(frames(1, 2) + encode_frame(b"\x7f\xff no such API"))
        assert [correlation_id(await client.frame()) for _ in range(2)] == [1, 2]
        await client.expect_closed()


@both_loops
async def test_no_more_is_collected_for_one_connection_than_its_limit() -> None:
    """The requests behind them wait for the end of the turn."""
    async with serving() as (server, handler):
        client = await connect(server)
        await eventually(lambda: server.accounts.quotas.count == 1)
        (connection,) = server.accounts.connections
        collected: list[int] = []

        def counting(request: Message) -> Message:
            collected.append(connection._writer.collected_bytes)
            return answer(request)

        handler.answer = counting
        count = 2_000
        client.send(frames(*range(count)))
        assert [correlation_id(await client.frame()) for _ in range(count)] == list(range(count))
        assert COLLECTED_BYTES_MAX // 2 < max(collected) < COLLECTED_BYTES_MAX
        client.close()


@both_loops
async def test_small_answers_that_are_not_read_are_counted() -> None:
    async with serving() as (server, handler):
        client = await connect(server)
        cast(asyncio.ReadTransport, client.writer.transport).pause_reading()
        client.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        handler.answer = lambda request: UnregisterBrokerResponse(error_message="x" * 1_000)
        client.send(frames(*range(1_000)) * 20)
        await eventually(lambda: server.accounts.unsent.held_bytes > 0)
        assert server.accounts.unsent.held_bytes < 2 * COLLECTED_BYTES_MAX
        count = len(handler.requests)
        await asyncio.sleep(0)
        assert len(handler.requests) == count < 20_000, "further requests wait until the responses are read"
        client.close()
        await eventually(lambda: server.accounts.unsent.held_bytes == 0)


@both_loops
async def test_a_connection_that_fails_keeps_no_answers_of_others() -> None:
    async with serving() as (server, handler):
        address = ("127.0.0.1", server.bound_ports["CONTROLLER"])
        clients = [socket.create_connection(address) for _ in range(3)]
        await eventually(lambda: server.accounts.quotas.count == 3)
        turn_over = asyncio.Event()

        def failing(request: Message) -> Message:
            """The first request of the first client fails that did not fit into the turn."""
            assert isinstance(request, UnregisterBrokerRequest)
            if request.broker_id >= 1_000:
                if turn_over.is_set():
                    raise MemoryError("planted")
                asyncio.get_running_loop().call_soon(turn_over.set)
            return answer(request)

        handler.answer = failing
        clients[0].sendall(frames(*range(1_000, 2_000)))
        for number, client in enumerate(clients[1:]):
            client.sendall(frames(number))
        await eventually(lambda: all(map(has_answer, clients[1:])))
        await eventually(lambda: server.accounts.quotas.count == 2)
        for client in clients:
            client.close()
