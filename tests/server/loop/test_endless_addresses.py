"""No supply of addresses without end keeps one from its turn that waits, whatever either waits for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

import pytest

from kraftctl.server.loop.request_turns import MUST_WAIT, TURN_NS, RequestTurns
from kraftctl.server.loop.turn_queue import ADDRESSES_MAX
from kraftctl_protocol.api_keys import ApiKey

MS = 1_000_000
REQUEST = ApiKey.ALTER_PARTITION.to_bytes(2, "big")
WAITER = b"waiter"

CROWD_WAITS = 20
"""As many of the crowd wait at any time."""

USED_MS = 15


class Turns:
    """Turns of the loop, in which the sockets of a crowd are read, and its clock."""

    decoded_bytes = 0

    def __init__(self, addresses: int) -> None:
        self.ns = 0
        self.addresses = addresses
        self.waiting = 0
        self.numbers = count()
        self.soon: list[Callable[[], None]] = []
        scheduler: Any = self
        self.turns = RequestTurns(lambda: self.ns, scheduler, self, lambda: False)
        self.kinds: dict[str, Callable[[bytes, Callable[[], None]], None]] = {
            "handshake": self.turns.wait,  # and SASL tokens, and records that did not fit into a turn
            "request": self.turns.begin_later,
            "response": self.turns.continue_later,  # and bodies, once they are decoded
            "records": self.read_records,
            "request-at-once": self.read_request,
        }

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        raise AssertionError("no memory is waited for")

    def read_records(self, address: bytes, call: Callable[[], None]) -> None:
        """As a transport does."""
        if self.turns.is_spent:
            self.turns.wait(address, call)
            return
        began_ns = self.turns.begin_records()
        call()
        self.turns.end_records(address, began_ns)

    def read_request(self, address: bytes, call: Callable[[], None]) -> None:
        """As a connection does."""
        began_ns = self.turns.begin(REQUEST, busy=False)
        if began_ns == MUST_WAIT:
            self.turns.begin_later(address, partial(self.read_request, address, call))
            return
        call()
        self.turns.end(address, began_ns)

    def spend(self, duration_ns: int) -> None:
        self.ns += duration_ns

    def crowd_is_served(self) -> None:
        self.spend(MS)
        self.waiting -= 1

    def next_turn(self, kind: str, crowd: int) -> None:
        """Reads from other addresses of the crowd, until so many of it wait."""
        for _ in range(crowd):
            if self.waiting >= crowd:
                break
            self.waiting += 1
            self.kinds[kind](b"%d" % (next(self.numbers) % self.addresses), self.crowd_is_served)
        calls, self.soon = self.soon, []
        for call in calls:
            call()


@pytest.mark.parametrize("used_ms", [0, USED_MS])
@pytest.mark.parametrize("addresses", [50, ADDRESSES_MAX + 500, 10**9], ids=["50", "1500", "fresh"])
@pytest.mark.parametrize(
    ("waits_for", "crowd"),
    [
        (waits_for, crowd)
        for waits_for in ("handshake", "request", "response")
        for crowd in ("handshake", "request", "response", "records", "request-at-once")
        if (waits_for, crowd) != ("request", "response")  # each response is that of a request before
    ],
)
def test_one_that_waits_has_its_turn(waits_for: str, crowd: str, addresses: int, used_ms: int) -> None:
    """It waits until each of the crowd that waits with it could have used as much, and no longer."""
    world = Turns(addresses)
    world.next_turn(crowd, CROWD_WAITS)
    if used_ms:
        began_ns = world.turns.begin_records()
        world.spend(used_ms * MS)
        world.turns.end_records(WAITER, began_ns)
    done: list[int] = []
    world.kinds[waits_for](WAITER, partial(done.append, 1))
    bound = (used_ms + 2) * CROWD_WAITS * MS // TURN_NS
    for _ in range(bound):
        world.next_turn(crowd, CROWD_WAITS)
        if done:
            return
    raise AssertionError(f"still waits after {bound} turns")


@pytest.mark.parametrize("first", ["handshake", "request", "response"])
@pytest.mark.parametrize("then", ["handshake", "request"])
def test_of_equals_the_one_that_waits_longest_goes_first(first: str, then: str) -> None:
    world = Turns(0)
    done: list[str] = []
    for kind in (first, then):
        world.kinds[kind](kind.encode(), partial(done.append, kind))
    for call in world.soon:
        call()
    assert done == [first, then]
