"""A connection whose request has no time in this turn of the loop keeps it as bytes, and reads no further."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kraftctl.server.loop.request_turns import MUST_WAIT
from kraftctl_protocol.frames import encode_frame
from tests.server.serving import (
    Client,
    Handler,
    both_loops,
    connect,
    eventually,
    request_bytes,
    serving,
    unregister,
)


class Turns(Handler):
    """No request begins and no response leaves until `let` is called, once for each."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[bytes, Callable[[], None]]] = []
        self.ended: list[int] = []
        self.has_turn = False
        self.responses_wait = False
        self.crowded = False

    def begin(self, frame: bytes) -> int:
        has_turn, self.has_turn = self.has_turn, False
        return 7 if has_turn else MUST_WAIT

    def end(self, address: bytes, began_ns: int) -> None:
        self.ended.append(began_ns)

    def begin_later(self, address: bytes, call: Callable[[], None]) -> None:
        self.waiting.append((address, call))
        self.changed.set()

    def must_respond_later(self, api_key: int) -> bool:
        return self.responses_wait

    def respond_later(self, address: bytes, call: Callable[[], None]) -> None:
        self.begin_later(address, call)

    def has_waiting(self) -> bool:
        return self.crowded

    async def let(self) -> None:
        await self.until(lambda: bool(self.waiting))
        _, call = self.waiting.pop(0)
        self.has_turn = True
        call()
        self.has_turn = False


def ids(handler: Handler) -> list[int]:
    return [getattr(request, "broker_id", -1) for request in handler.requests]


async def frames(client: Client, count: int) -> int:
    for _ in range(count):
        await client.frame()
    return count


@both_loops
async def test_requests_wait_in_their_order_one_at_a_time() -> None:
    handler = Turns()
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        for number in (1, 2, 3):
            client.request(unregister(number), 0)
        for number in (1, 2, 3):
            await handler.let()
            assert ids(handler)[-1] == number
        assert await frames(client, 3) == 3
        assert len(handler.ended) == 3
        assert handler.waiting == []


@both_loops
async def test_what_waits_counts_as_unfinished_and_stops_reading() -> None:
    """The limit of all connections covers it, and the sender keeps what comes behind."""
    handler = Turns()
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        data = encode_frame(request_bytes(unregister(1), 0))
        client.send(data)
        await handler.until(lambda: bool(handler.waiting))
        assert server.accounts.budget.held_bytes == len(data) - 4
        for _ in range(100):
            client.request(unregister(2), 0)
        await asyncio.sleep(0.01)
        assert server.accounts.budget.held_bytes <= 101 * len(data)
        for _ in range(101):
            await handler.let()
            await client.frame()


@both_loops
async def test_a_response_leaves_at_once_while_others_wait() -> None:
    """The next turn is theirs, and what is collected would leave behind it."""
    handler = Turns()
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        for number in (1, 2):
            client.request(unregister(number), 0)
        await handler.until(lambda: bool(handler.waiting))
        sent: list[int] = []
        for crowded in (False, True):
            handler.crowded = crowded
            await handler.let()
            sent.append(len(server.responses._connections))
            await client.frame()
        assert sent == [1, 0]


@both_loops
async def test_a_closed_connection_begins_nothing() -> None:
    handler = Turns()
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        client.request(unregister(1), 0)
        await handler.until(lambda: bool(handler.waiting))
        server.accounts.budget.holders()[0].abort()
        await client.expect_closed()
        assert server.accounts.budget.held_bytes == 0
        await handler.let()
        assert handler.requests == []


@both_loops
async def test_a_response_that_comes_late_waits_for_its_turn() -> None:
    """What a commit releases is not encoded in one turn; one that waits when its client leaves is dropped."""
    handler = Turns()
    handler.holding = True
    async with serving(handler=handler) as (server, _):
        client = await connect(server)
        client.request(unregister(1), 0)
        await handler.let()
        handler.responses_wait = True
        handler.release()
        assert len(handler.waiting) == 1
        await handler.let()
        await client.frame()
        client.request(unregister(2), 0)
        await handler.let()
        handler.release()
        client.close()
        await eventually(lambda: server.accounts.quotas.count == 0)
        await handler.let()
