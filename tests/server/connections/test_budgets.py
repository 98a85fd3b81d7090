"""Clients that never read, and clients that never finish, are closed; others are served meanwhile."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kraftctl.raft.raft_config import RESPONSE_BYTES_MAX
from kraftctl.server.listeners.connection_accounts import READ_ROOM_BYTES
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.loop.client_requests import REFUSED_BYTES_MAX
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest, ReplicaState
from kraftctl_protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kraftctl_protocol.message import Message
from tests.server.serving import (
    Client,
    Handler,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
)

MIB = 1024 * 1024
FETCH_VERSION = 17
SMALL_BUFFER = {"socket.send.buffer.bytes": "8192"}
LIMITS = {"socket.request.max.bytes": "1000000", "queued.max.request.bytes": "9000000"}


def answer_fetches(handler: Handler, size_bytes: int) -> None:
    """A Fetch gets a response with that many bytes of records; an Envelope gets a short one."""
    usual = handler.answer

    def answer(request: Message) -> Message:
        if isinstance(request, EnvelopeRequest):
            return EnvelopeResponse()
        if not isinstance(request, FetchRequest):
            return usual(request)
        partition = PartitionData(records=bytes(size_bytes))
        return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])

    handler.answer = answer


async def connect_from(server: SocketServer, host: str = "127.0.0.1") -> Client:
    """A client that takes in only some kilobytes before a test reads."""
    own = socket.socket()
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    own.bind((host, 0))
    own.setblocking(False)
    address = ("127.0.0.1", server.bound_ports["CONTROLLER"])
    await asyncio.get_running_loop().sock_connect(own, address)
    return Client(*await asyncio.open_connection(sock=own, limit=4096))


async def ask(server: SocketServer, host: str = "127.0.0.1") -> Client:
    client = await connect_from(server, host)
    client.request(FetchRequest(), FETCH_VERSION)
    return client


def drop(clients: list[Client]) -> None:
    for client in clients:
        client.writer.transport.abort()


# Answers that are not read.


@both_loops
async def test_unread_answers_within_the_budget_wait_for_their_readers() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = 8 * MIB + 8 * 100
        clients = [await ask(server) for _ in range(8)]
        await eventually(lambda: server.accounts.unsent.held_bytes > 8 * MIB)
        for client in clients:
            assert len(await client.frame()) > MIB
        await eventually(lambda: server.accounts.unsent.held_bytes == 0)
        assert server.metrics.closed_holders_count == 0
        drop(clients)


@both_loops
async def test_eight_of_the_largest_answers_wait_for_their_readers() -> None:
    """Ten replicas fetched slices of 8 MiB: what is around the records was too much, and one was closed."""
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, RESPONSE_BYTES_MAX)
        clients = [await ask(server) for _ in range(8)]
        await eventually(lambda: server.accounts.unsent.held_bytes > 8 * RESPONSE_BYTES_MAX)
        assert server.metrics.closed_holders_count == 0
        drop(clients)


@both_loops
async def test_the_slowest_reader_is_closed_when_unread_answers_are_too_many() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = 8 * MIB
        slow = []
        for number in range(8):
            slow.append(await ask(server))
            await handler.until(lambda number=number: len(handler.requests) == number + 1)  # type: ignore[misc]
        await eventually(lambda: server.metrics.closed_holders_count > 0)
        reader = await ask(server)
        assert len(await reader.frame()) > MIB, "the one who reads is served"
        await eventually(lambda: server.accounts.unsent.held_bytes <= 8 * MIB)
        closed_count = server.metrics.closed_holders_count
        assert 1 <= closed_count <= 3
        for client in slow[:closed_count]:
            try:
                await client.frame()
                raise AssertionError("the oldest ones are closed")
            except (asyncio.IncompleteReadError, ConnectionResetError):
                pass
        drop([reader, *slow])


@both_loops
async def test_what_a_client_has_read_of_its_answer_does_not_count() -> None:
    """Those that read are not closed in place of each other just before they are done."""
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = 8 * MIB
        readers = [await ask(server) for _ in range(7)]
        await eventually(lambda: server.accounts.unsent.held_bytes > 7 * MIB)
        begun = [await client.reader.readexactly(MIB // 2) for client in readers]
        readers += [await ask(server) for _ in range(3)]
        await handler.until(lambda: len(handler.requests) == 10)
        for client, part in zip(readers, begun, strict=False):
            assert len(part) + len(await client.reader.readexactly(MIB // 2)) == MIB
        for client in readers[7:]:
            assert len(await client.frame()) > MIB
        assert server.metrics.closed_holders_count == 0
        drop(readers)


@both_loops
async def test_three_hundred_that_never_read_hold_no_more_than_the_budget() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = 8 * MIB
        clients = []
        for _ in range(300):
            clients.append(await ask(server))
            assert server.accounts.unsent.held_bytes <= 8 * MIB
        other = await ask(server, "127.0.0.2")
        assert len(await other.frame()) > MIB
        assert server.metrics.closed_holders_count > 250
        drop([other, *clients])
        await eventually(lambda: server.accounts.unsent.held_bytes == 0)


async def test_a_connection_that_is_closing_still_counts_until_its_answer_is_gone() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        client = await ask(server)
        await eventually(lambda: server.accounts.unsent.held_bytes > MIB)
        (connection,) = server.accounts.connections
        connection.close()
        assert (server.accounts.quotas.count, server.accounts.unsent.held_bytes > MIB) == (1, True)
        server.accounts.unsent.bytes_max = MIB // 2
        server.accounts.enforce_budgets()
        await eventually(lambda: server.accounts.quotas.count == 0)
        assert server.accounts.unsent.held_bytes == 0
        drop([client])


def fetch_of(replica_id: int) -> FetchRequest:
    return FetchRequest(replica_state=ReplicaState(replica_id=replica_id))


@both_loops
async def test_a_voter_is_not_closed_in_place_of_other_slow_readers() -> None:
    """Of each voter the connection over which it fetched last, however many say that they are that voter."""
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        handler.voter_ids = {2}
        server.accounts.unsent.bytes_max = 8 * MIB
        clients = []
        for number in range(9):
            client = await connect_from(server)
            client.request(fetch_of(2), FETCH_VERSION) if number < 2 else client.request(
                fetch_of(number + 100), FETCH_VERSION
            )
            await handler.until(lambda number=number: len(handler.requests) == number + 1)  # type: ignore[misc]
            clients.append(client)
        await eventually(lambda: server.metrics.closed_holders_count > 0)
        assert len(await clients[1].frame()) > MIB, "the voter"
        try:
            await clients[0].frame()
            raise AssertionError("the one before, which said that it is the same voter")
        except (asyncio.IncompleteReadError, ConnectionResetError):
            pass
        drop(clients)
        await eventually(lambda: len(server.accounts.voters.connections()) == 0)


@both_loops
async def test_one_without_the_right_is_not_taken_for_a_voter() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        handler.voter_ids = {2}
        refusal = FetchResponse(error_code=int(Errors.CLUSTER_AUTHORIZATION_FAILED))
        handler.answer = lambda request: refusal
        client = await connect(server)
        client.request(fetch_of(2), FETCH_VERSION)
        await client.frame()
        assert len(server.accounts.voters.connections()) == 0
        answer_fetches(handler, 1)
        client.request(fetch_of(3), FETCH_VERSION)
        await client.frame()
        assert len(server.accounts.voters.connections()) == 0
        client.request(fetch_of(2), FETCH_VERSION)
        await client.frame()
        assert len(server.accounts.voters.connections()) == 1
        drop([client])


@both_loops
async def test_nothing_more_is_read_from_a_client_that_has_an_answer_to_read() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, 4 * MIB)
        client = await ask(server)
        await eventually(lambda: server.accounts.unsent.held_bytes > 0)
        (connection,) = server.accounts.connections
        frame = encode_frame(request_bytes(EnvelopeRequest(request_data=bytes(1000)), 0))
        client.send(frame[:-1])
        await asyncio.sleep(0.05)
        assert server.accounts.budget.held_by(connection) == 0
        assert len(await client.frame()) > 4 * MIB
        client.send(frame[-1:])
        assert len(await client.frame()) > 0
        drop([client])


async def test_reads_of_files_are_put_off_before_the_budget_is_used_up() -> None:
    async with serving(SMALL_BUFFER) as (server, handler):
        answer_fetches(handler, MIB)
        server.accounts.unsent.bytes_max = READ_ROOM_BYTES + MIB
        assert server.accounts.has_room()
        client = await ask(server)
        await eventually(lambda: not server.accounts.has_room())
        assert len(await client.frame()) > MIB
        await eventually(server.accounts.has_room)
        assert server.metrics.closed_holders_count == 0
        drop([client])


# Requests that are not finished.


def unfinished(size_bytes: int) -> bytes:
    """The beginning of an Envelope of a megabyte."""
    return (1_000_000).to_bytes(4, "big") + bytes.fromhex("003a0000") + bytes(size_bytes - 8)


@both_loops
async def test_unfinished_requests_within_the_budget_are_kept() -> None:
    async with serving(LIMITS) as (server, _):
        clients = [await connect(server) for _ in range(10)]
        for client in clients:
            client.send(unfinished(900_000))
        await eventually(lambda: server.accounts.budget.held_bytes == 9_000_000)
        assert (server.metrics.closed_holders_count, server.accounts.quotas.count) == (0, 10)
        drop(clients)


@both_loops
@pytest.mark.parametrize("denied", [False, True])
async def test_of_a_long_request_without_the_right_nothing_is_received(denied: bool) -> None:
    """Up to a megabyte it is received, and refused in a response."""
    async with serving() as (server, handler):
        answer_fetches(handler, 1)
        handler.denied_api_keys = {EnvelopeRequest.API_KEY} if denied else set()
        client = await connect(server)
        client.request(EnvelopeRequest(request_data=bytes(REFUSED_BYTES_MAX - 1000)), 0)
        assert (await client.frame())[:4] == (7).to_bytes(4, "big")
        frame = encode_frame(request_bytes(EnvelopeRequest(request_data=bytes(REFUSED_BYTES_MAX)), 0))
        client.send(frame[:100])
        if denied:
            await client.expect_closed()
            assert server.accounts.budget.held_bytes == 0
        else:
            client.send(frame[100:])
            assert (await client.frame())[:4] == (7).to_bytes(4, "big")
        drop([client])


@both_loops
async def test_hoarders_are_closed_and_an_honest_large_request_is_served() -> None:
    async with serving(LIMITS) as (server, handler):
        answer_fetches(handler, 1)
        hoarders = [await connect(server) for _ in range(10)]
        for hoarder in hoarders:
            hoarder.send(unfinished(900_000))
        await eventually(lambda: server.accounts.budget.held_bytes == 9_000_000)
        for host in ("127.0.0.1", "127.0.0.2"):
            honest = await connect_from(server, host)
            frame = encode_frame(request_bytes(EnvelopeRequest(request_data=bytes(804_000)), 0))
            honest.send(frame[:-1])
            await asyncio.sleep(0.05)
            honest.send(frame[-1:])
            assert (await honest.frame())[:4] == (7).to_bytes(4, "big")
            drop([honest])
        await eventually(lambda: server.metrics.closed_holders_count > 0)
        assert server.accounts.budget.held_bytes <= 9_000_000
        drop(hoarders)
        await eventually(lambda: server.accounts.budget.held_bytes == 0)
