"""A race of a controller over the addresses of a name, ended from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kraftctl.server.peers import connecting
from kraftctl.server.peers.connecting import Closable, Race
from kraftctl_security.addresses.host_addresses import Address
from kraftctl_security.addresses.known_hosts import KnownHost
from tests.clients.situation import PLAINTEXT, Situation
from tests.server.serving import both_loops
from tests.support.wire.bad_addresses import NAME, V4, V6

Situations = Callable[[str], Situation]


@both_loops("compiled")
async def test_the_winner_is_closed_if_the_others_take_too_long_to_end(situation: Situations) -> None:
    """The time of the request is over then, and there is no use for the connection."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    ends, closed = asyncio.Event(), asyncio.Event()

    class Connection:
        def close(self) -> None:
            closed.set()

    async def greet(address: Address, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Connection:
        if str(address) == V4:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                ends.set()
                await asyncio.Event().wait()
        writer.transport.abort()
        return Connection()

    servers = [await asyncio.start_server(lambda _, writer: None, host, there.port) for host in (V4, V6)]
    race = Race(KnownHost(NAME, there.port), greet, context=None, is_own=lambda _host, _port: False)
    running = asyncio.ensure_future(race.run())
    await ends.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert closed.is_set()
    for server in servers:
        server.close()


async def test_three_addresses_are_tried_at_a_time(situation: Situations) -> None:
    """A name may have any number of them, and each attempt takes a descriptor."""
    there = situation(PLAINTEXT)
    hosts = [f"127.0.0.{number}" for number in range(2, 7)]
    there.names.addresses[NAME] = hosts
    running: set[str] = set()
    tried: set[str] = set()
    most = 0

    async def greet(address: Address, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Closable:
        nonlocal most
        running.add(str(address))
        tried.add(str(address))
        most = max(most, len(running))
        try:
            await asyncio.sleep(5 * connecting.ATTEMPT_DELAY_SECONDS)
        finally:
            running.remove(str(address))
            writer.transport.abort()
        raise OSError("no response")

    servers = [await asyncio.start_server(lambda _, writer: None, host, there.port) for host in hosts]
    with pytest.raises(OSError, match="no response"):
        await Race(KnownHost(NAME, there.port), greet, context=None, is_own=lambda _host, _port: False).run()
    assert len(tried) == 5
    assert most == connecting.RACING_MAX
    for server in servers:
        server.close()
