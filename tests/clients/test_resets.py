"""Connections that are reset as soon as they are made: by a proxy whose controller is gone, for example."""

from __future__ import annotations

import asyncio
import gc
import os
import stat
from collections.abc import Callable
from typing import cast

import pytest

from kraftctl.server.peers import connecting
from kraftctl.server.peers.connecting import Closable
from kraftctl_security.addresses.host_addresses import Address
from kraftctl_security.addresses.known_hosts import KnownHosts
from tests.clients.situation import PLAINTEXT, SSL, Situation, asker_of
from tests.server.serving import run, unregister
from tests.support.wire.bad_addresses import NAME, OTHER_V4, V4, V6

Situations = Callable[[str], Situation]

BAD = [V4, V6, OTHER_V4]


class NoPeer:
    """A transport whose connection was reset before anything was read: the system knows no peer any more."""

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        return None if name == "peername" else (V4, 1)


async def test_a_reset_before_anything_was_read_refuses(situation: Situations) -> None:
    """KIP-996: an election may begin early."""
    there = situation(PLAINTEXT)
    there.names.addresses[NAME] = [V4, V6]
    race = connecting.Race(KnownHosts().host(NAME, there.port), never, context=None, is_own=lambda *_: False)
    await race._resolve()
    with pytest.raises(ConnectionResetError):
        race._refuse_own(race._host.addresses.to_try()[0], cast("asyncio.Transport", NoPeer()))


async def never(*_: object) -> Closable:
    raise AssertionError


@pytest.mark.prevents("descriptor-closed-twice")
@pytest.mark.parametrize("protocol", [PLAINTEXT, SSL])
def test_a_reset_closes_no_descriptor_that_others_have_by_then(protocol: str, situation: Situations) -> None:
    """uvloop and a Python socket both close the descriptor of a socket that was passed to uvloop."""
    there = situation(protocol)
    there.names.addresses[NAME] = BAD
    for address in BAD:
        there.spoil("resets", address)
    opened: list[int] = []

    async def test() -> None:
        for send_id in range(30):
            asker = asker_of(there)
            asker.ask(send_id, unregister(1))
            assert await asker.answer_to(send_id) is None
            await asker.peers.stop()
            opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in BAD)
            gc.collect()
            assert all(stat.S_ISCHR(os.fstat(each).st_mode) for each in opened)

    run(test)
    for each in opened:
        os.close(each)


@pytest.mark.parametrize(
    ("place", "numbers"),
    [
        ((V4, 9093), V4),
        ((V6, 9093, 0, 0), V6),
        (("fe80::1", 9093, 0, 2), "fe80::1%2"),
    ],
)
def test_an_address_of_a_link_is_connected_to_over_that_link(
    place: tuple[str | int, ...], numbers: str
) -> None:
    assert Address(0, place).numbers() == numbers
