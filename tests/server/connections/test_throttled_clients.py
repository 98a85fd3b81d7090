"""A client that has used up its quota of changes is not served for the time in its response, as in Kafka."""

from __future__ import annotations

import asyncio
import gc

import pytest

from kraftctl.server.connections.connection import HELD_WHILE_BUSY_BYTES_MAX, Connection
from kraftctl.server.listeners.listener import SocketServer
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import encoded_once
from tests.server.serving import (
    Client,
    Handler,
    answer,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
    unregister,
)
from tests.support.live_objects import live_objects

CHARGED = (CreateTopicsResponse, DeleteTopicsResponse, CreatePartitionsResponse)
SHORT_MS = 300
FOR_EVER_MS = 2**31 - 1


class Charging(Handler):
    """Its responses to what the quota counts say that the client is to wait."""

    def __init__(
        self,
        throttle_time_ms: int,
        kind: type[Message] = CreateTopicsResponse,
        *,
        encodes: bool = False,
    ) -> None:
        super().__init__()
        self.throttle_time_ms = throttle_time_ms
        self.kind = kind
        self.encodes = encodes
        self.answer = self.charged

    def charged(self, request: Message) -> Message:
        if isinstance(request, UnregisterBrokerRequest):
            return answer(request)
        response = self.kind()
        response.throttle_time_ms = self.throttle_time_ms  # type: ignore[attr-defined]
        return encoded_once(response, response.HIGHEST_VERSION) if self.encodes else response

    def served(self) -> list[int]:
        return [each.broker_id for each in self.requests if isinstance(each, UnregisterBrokerRequest)]


async def charged_client(server: SocketServer, kind: type[Message] = CreateTopicsResponse) -> Client:
    """Its response has come."""
    made = request_class(kind.API_KEY)
    assert made is not None
    request = made()
    client = await connect(server)
    client.request(request, request.HIGHEST_VERSION)
    await client.frame()
    return client


@both_loops
@pytest.mark.parametrize("encodes", [False, True], ids=["", "encoded-before-the-commit"])
@pytest.mark.parametrize("kind", CHARGED, ids=lambda kind: kind.NAME)
async def test_its_next_request_waits_for_this_time_and_others_do_not(
    kind: type[Message], encodes: bool
) -> None:
    handler, loop = Charging(SHORT_MS, kind, encodes=encodes), asyncio.get_running_loop()
    async with serving(handler=handler) as (server, _):
        began_s = loop.time()
        client = await charged_client(server, kind)
        client.request(unregister(1), 0)
        other = await connect(server)
        other.request(unregister(2), 0)
        await other.frame()
        assert handler.served() == [2]
        await client.frame()
        assert handler.served() == [2, 1]
        assert loop.time() - began_s >= SHORT_MS / 1000 - 0.01
        client.request(unregister(3), 0)
        await client.frame()
        client.close()
        other.close()


@both_loops
async def test_requests_that_came_before_the_response_wait_too() -> None:
    handler, loop = Charging(SHORT_MS), asyncio.get_running_loop()
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        began_s = loop.time()
        frames = [request_bytes(CreateTopicsRequest(), 5), *(request_bytes(unregister(i), 0) for i in (1, 2))]
        client.send(b"".join(map(encode_frame, frames)))
        await client.frame()
        assert handler.served() == []
        await client.frame()
        await client.frame()
        assert handler.served() == [1, 2]
        assert loop.time() - began_s >= SHORT_MS / 1000 - 0.01
        client.close()


@both_loops
@pytest.mark.parametrize("throttle_time_ms", [0, -1], ids=["0", "negative"])
async def test_without_a_time_the_next_request_is_served(throttle_time_ms: int) -> None:
    handler = Charging(throttle_time_ms)
    async with serving(handler=handler) as (server, _):
        client = await charged_client(server)
        client.request(unregister(1), 0)
        await client.frame()
        client.close()


@both_loops
async def test_only_what_the_quota_counts_mutes_a_client() -> None:
    """The responses of Fetch, say, may name a time as well."""
    async with serving(handler=Handler()) as (server, _):
        client = await connect(server)
        for _ in range(2):
            client.request(unregister(FOR_EVER_MS), 0)
            await client.frame()
        client.close()


@both_loops
async def test_what_it_sends_meanwhile_stays_with_it() -> None:
    handler = Charging(FOR_EVER_MS)
    async with serving(handler=handler) as (server, _):
        client = await charged_client(server)
        request = encode_frame(request_bytes(unregister(1), 0))
        client.send(request * (8 * HELD_WHILE_BUSY_BYTES_MAX // len(request)))
        (connection,) = server.accounts.connections
        await eventually(lambda: server.accounts.budget.held_bytes > 0)
        other = await connect(server)
        for number in range(20):
            other.request(unregister(number), 0)
            await other.frame()
        assert server.accounts.budget.held_bytes <= 4 * HELD_WHILE_BUSY_BYTES_MAX
        assert handler.served() == list(range(20))
        connection.abort()
        client.close()
        other.close()


@both_loops
@pytest.mark.parametrize("is_before", [False, True], ids=["after-the-response", "before-the-response"])
async def test_a_frame_that_is_not_whole_stays_with_it(is_before: bool) -> None:
    """As behind a request in flight: Kafka reads nothing of it."""
    topics = [CreatableTopic(name="t" * 249)] * (8 * HELD_WHILE_BUSY_BYTES_MAX // 249)
    large = encode_frame(request_bytes(CreateTopicsRequest(topics=topics), 5))[:-1]
    handler = Charging(FOR_EVER_MS)
    async with serving(handler=handler) as (server, _):
        if is_before:
            client = await connect(server)
            client.send(encode_frame(request_bytes(CreateTopicsRequest(), 5)) + large)
            await client.frame()
        else:
            client = await charged_client(server)
            client.send(large)
        (connection,) = server.accounts.connections
        await eventually(lambda: server.accounts.budget.held_bytes > HELD_WHILE_BUSY_BYTES_MAX)
        other = await connect(server)
        for number in range(20):
            other.request(unregister(number), 0)
            await other.frame()
        assert server.accounts.budget.held_bytes <= 5 * HELD_WHILE_BUSY_BYTES_MAX
        connection.abort()
        client.close()
        other.close()


@both_loops
async def test_a_request_that_waited_counts_from_when_it_is_served() -> None:
    """Kafka reads it no earlier: its time-out begins then."""
    handler, loop = Charging(SHORT_MS), asyncio.get_running_loop()
    async with serving(handler=handler) as (server, _):
        client = await charged_client(server)
        client.request(unregister(1), 0)
        await client.frame()
        received_ms = handler.contexts[-1].received_ms
        assert received_ms is not None
        assert loop.time() * 1000 - received_ms < SHORT_MS / 2
        client.close()


@both_loops
async def test_it_is_forgotten_when_it_leaves() -> None:
    """No timer of weeks keeps its connection."""
    gc.collect()
    of_others = len(live_objects(Connection))
    async with serving(handler=Charging(FOR_EVER_MS)) as (server, _):
        client = await charged_client(server)
        assert len(live_objects(Connection)) == of_others + 1
        gc.disable()
        try:
            client.writer.transport.abort()
            await eventually(lambda: len(live_objects(Connection)) == of_others)
        finally:
            gc.enable()


@both_loops
async def test_it_is_closed_as_an_idle_one_is() -> None:
    properties = {"connections.max.idle.ms": "200"}
    async with serving(properties, Charging(FOR_EVER_MS)) as (server, _):
        client = await charged_client(server)
        client.request(unregister(1), 0)
        await client.expect_closed()
        client.close()
