"""What happens to messages between two places: lost, delayed, duplicated, overtaken, cut off."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Protocol

from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.virtual_time import VirtualTime

LONG_DELAY_US = 50_000

CONNECTION_REFUSED_US = 1_000

Place = int | str
"""A controller's node id, or the name of a client."""


class LinkFaults:
    """Chances per message; delays in microseconds, each message with its own, so they overtake each other."""

    def __init__(
        self,
        *,
        loss: float = 0.0,
        delay_us_max: int = 1_000,
        duplicates: float = 0.0,
        slow_links: dict[tuple[Place, Place], int] | None = None,
    ) -> None:
        self.loss = loss
        self.delay_us_max = delay_us_max
        self.duplicates = duplicates
        self.slow_links = {} if slow_links is None else slow_links

    @property
    def late_us_max(self) -> int:
        """The time after which a message has arrived, the second one of two as well."""
        times = 2 if self.duplicates else 1
        return times * (self.delay_us_max + 1) + max(self.slow_links.values(), default=0)


class Wire:
    """Carries messages. `cut` has the pairs (source, target) whose messages do not arrive.

    `refused` has the pairs between which connections are reset and refused, by something in between: the
    target does not notice.
    """

    def __init__(self, time: VirtualTime, rng: random.Random, counts: Counter[str]) -> None:
        self.time = time
        self.rng = rng
        self.counts = counts
        self.faults = LinkFaults()
        self.cut: set[tuple[Place, Place]] = set()
        self.refused: set[tuple[Place, Place]] = set()
        self._last_us: dict[tuple[Place, Place], int] = {}
        self._all_arrived_us = 0

    @property
    def late_us_max(self) -> int:
        """The time after which all has arrived that is sent now, or was sent before under other faults."""
        return max(self.faults.late_us_max, self._all_arrived_us - self.time.now_us)

    def carry(self, source: Place, target: Place, arrive: Callable[[], None]) -> None:
        """`arrive` is called once, never, or, between controllers, twice: clients have other ways to repeat a
        request, and must know which of them counts.
        """
        faults, rng = self.faults, self.rng
        if self.cut and (source, target) in self.cut:
            self.counts["messages cut off"] += 1
            return
        if faults.loss and rng.random() < faults.loss:
            self.counts["messages lost"] += 1
            return
        delay_us = int(rng.random() * faults.delay_us_max) + 1
        if faults.slow_links and (slow_us := faults.slow_links.get((source, target), 0)):
            self.counts["messages over slow links"] += 1
            delay_us += slow_us
        at_us = self.time.now_us + delay_us
        if at_us < self._last_us.get((source, target), 0):
            self.counts["messages that overtook another"] += 1
        else:
            self._last_us[source, target] = at_us
        if delay_us > LONG_DELAY_US:
            self.counts["messages delayed"] += 1
        self._all_arrived_us = max(self._all_arrived_us, at_us)
        self.time.call_at(at_us, arrive)
        if faults.duplicates and type(source) is type(target) and rng.random() < faults.duplicates:
            self.counts["messages duplicated"] += 1
            again_us = at_us + int(rng.random() * faults.delay_us_max) + 1
            self._all_arrived_us = max(self._all_arrived_us, again_us)
            self.time.call_at(again_us, arrive)

    def isolate(self, place: Place, others: list[Place]) -> None:
        for other in others:
            self.cut.add((place, other))
            self.cut.add((other, place))

    def separate(self, ones: list[Place], others: list[Place]) -> None:
        """Neither side reaches the other."""
        for one in ones:
            self.isolate(one, others)


Answered = Callable[[bytes | None], None]


class Asker(Protocol):
    """Where the response to a request goes."""

    def respond(self, payload: bytes | None) -> None:
        """None when the connection is closed instead."""
        ...


class Server(Protocol):
    """A controller, as the network sees it."""

    @property
    def place(self) -> Place: ...

    @property
    def lifetime(self) -> Lifetime | None:
        """The present one; None while it is down."""
        ...

    @property
    def has_power(self) -> bool:
        """Without, its machine is silent; with power, it refuses connections while the process is down."""
        ...

    def receive(self, payload: bytes, exchange: Asker, principal: KafkaPrincipal = ANONYMOUS) -> int:
        """The id of the request; `exchange.respond` is called once, maybe inside."""
        ...

    def cancel(self, lifetime: Lifetime, request_id: int) -> None:
        """The connection of a request that was received in `lifetime` is closed."""
        ...


class Exchange:
    """One request to a controller, and its response, or none within `timeout_us`.

    `answered` is called once, at the source, unless the exchange is abandoned. The connection leads to the
    process that runs when the request is sent; while none does, to the one that the request finds.
    """

    __slots__ = (
        "_answered",
        "_asked",
        "_life",
        "_principal",
        "_server",
        "_source",
        "_timer",
        "_wire",
        "connection_id",
        "timed_out",
    )

    def __init__(
        self,
        wire: Wire,
        source: Place,
        server: Server,
        payload: bytes,
        timeout_us: int,
        answered: Answered,
        connection_id: int = 0,
        principal: KafkaPrincipal = ANONYMOUS,
    ) -> None:
        self.connection_id = connection_id
        self._principal = principal
        self._wire = wire
        self._source = source
        self._server = server
        self._life = server.lifetime
        self._answered: Answered | None = answered
        self._asked: list[tuple[Lifetime, int]] = []
        self.timed_out = False
        """Otherwise an exchange without a response was refused, or its connection was reset."""
        self._timer = wire.time.call_after(timeout_us, self._timed_out)
        if wire.refused and (source, server.place) in wire.refused:
            wire.counts["connections refused or reset"] += 1
            wire.time.call_after(CONNECTION_REFUSED_US, partial(self._finish, None))
            return
        wire.carry(source, server.place, partial(self._arrive, payload))

    def _arrive(self, payload: bytes) -> None:
        """At the server, maybe twice: then over another connection, as each carries its bytes once and in
        order. The next process of a server knows nothing of the connection.
        """
        server = self._server
        life = server.lifetime
        if not server.has_power:
            self._wire.counts["messages to machines without power"] += 1
            return
        if life is None or (self._life is not None and life is not self._life):
            self._wire.counts["connections refused or reset"] += 1
            self._answer(None)
            return
        if life.frozen:
            life.run(partial(self._arrive, payload))
            return
        if self._asked:
            self.connection_id = -self._wire.counts["messages duplicated"]
        request_id = server.receive(payload, self, self._principal)
        self._asked.append((life, request_id))

    def respond(self, payload: bytes | None) -> None:
        """The server's answer; None when it closes the connection."""
        self._answer(payload)

    def _answer(self, payload: bytes | None) -> None:
        if self._answered is not None:
            self._wire.carry(self._server.place, self._source, partial(self._finish, payload))

    def _finish(self, payload: bytes | None) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            self._timer.cancel()
            answered(payload)

    def _timed_out(self) -> None:
        self.timed_out = True
        self._close()
        self._finish(None)

    def abandon(self) -> None:
        """The source is gone: the response has no reader."""
        self._answered = None
        self._timer.cancel()
        self._close()

    def _close(self) -> None:
        """The server learns that the connection is closed, if the network lets it."""
        for life, request_id in self._asked:
            self._wire.carry(self._source, self._server.place, partial(self._server.cancel, life, request_id))
