"""Server-sent events: a client that takes no bytes is dropped, and one that has left is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from kraftctl.console import update_stream
from kraftctl.console.update_stream import UpdateStream

Message = MutableMapping[str, Any]


class Client:
    """What a server does for one client: it takes `takes_count` messages, then no more."""

    def __init__(self, takes_count: int) -> None:
        self.taken: list[bytes] = []
        self.has_ended = False
        self.left = asyncio.Event()
        self._takes_count = takes_count

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if len(self.taken) == self._takes_count:
            await asyncio.Event().wait()
        self.taken.append(message.get("body", b""))
        self.has_ended = not message.get("more_body", True)


async def test_a_client_that_takes_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_stream, "SEND_SECONDS_MAX", 0.05)
    stream, client = UpdateStream(), Client(takes_count=1)
    await asyncio.wait_for(stream.send_to(client.receive, client.send), 10.0)
    assert client.taken == [b""]


async def test_a_client_gets_each_announcement_until_it_leaves() -> None:
    stream, client = UpdateStream(), Client(takes_count=100)
    serving = asyncio.ensure_future(stream.send_to(client.receive, client.send))
    for number in (1, 2):
        while b"data: %d\n\n" % number not in client.taken:
            stream.announce(number)
            await asyncio.sleep(0)
    client.left.set()
    await asyncio.wait_for(serving, 10.0)
    count = len(client.taken)
    stream.announce(3)
    assert len(client.taken) == count


async def test_at_the_end_of_the_server_each_response_ends() -> None:
    stream, client = UpdateStream(), Client(takes_count=100)
    serving = asyncio.ensure_future(stream.send_to(client.receive, client.send))
    while b"data: 0\n\n" not in client.taken:
        await asyncio.sleep(0)
    stream.end()
    await asyncio.wait_for(serving, 10.0)
    assert client.taken[-1] == b""
    assert client.has_ended


async def test_a_silent_stream_repeats_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that proxies do not close the connection."""
    monkeypatch.setattr(update_stream, "SILENCE_SECONDS", 0.01)
    stream, client = UpdateStream(), Client(takes_count=100)
    serving = asyncio.ensure_future(stream.send_to(client.receive, client.send))
    while client.taken.count(b"data: 0\n\n") < 3:
        await asyncio.sleep(0)
    client.left.set()
    await asyncio.wait_for(serving, 10.0)
