"""What becomes of a request whose server ends, or starts again, while it is on its way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.virtual_time import VirtualTime
from tests.support.simulator.cluster.wire import Asker, Exchange, LinkFaults, Wire

TIMEOUT_US = 2_000_000
REFUSED, SILENT, ANSWERED = "refused", "silent", "answered"


class Server:
    """Answers everything immediately, while a process of it runs."""

    place = 1

    def __init__(self, time: VirtualTime) -> None:
        self._time = time
        self.lifetime: Lifetime | None = Lifetime(time)
        self.has_power = True

    def receive(self, payload: bytes, exchange: Asker, principal: KafkaPrincipal = ANONYMOUS) -> int:
        exchange.respond(payload)
        return 1

    def cancel(self, lifetime: Lifetime, request_id: int) -> None: ...

    def end(self) -> None:
        assert self.lifetime is not None
        self.lifetime.end()
        self.lifetime = None

    def start(self) -> None:
        self.lifetime = Lifetime(self._time)
        self.has_power = True

    def restart(self) -> None:
        self.end()
        self.start()

    def lose_power(self) -> None:
        self.end()
        self.has_power = False


def _nothing(server: Server) -> None: ...


@pytest.mark.parametrize(
    ("before", "meanwhile", "outcome"),
    [
        pytest.param(_nothing, _nothing, ANSWERED, id="runs"),
        pytest.param(_nothing, Server.end, REFUSED, id="killed"),
        pytest.param(_nothing, Server.restart, REFUSED, id="another-process"),
        pytest.param(_nothing, Server.lose_power, SILENT, id="no-power"),
        pytest.param(Server.lose_power, _nothing, SILENT, id="no-power-before"),
        pytest.param(Server.end, _nothing, REFUSED, id="killed-before"),
        pytest.param(Server.end, Server.start, ANSWERED, id="started-in-time-to-connect"),
        pytest.param(Server.lose_power, Server.start, ANSWERED, id="power-in-time-to-connect"),
    ],
)
def test_what_becomes_of_a_request(
    before: Callable[[Server], None], meanwhile: Callable[[Server], None], outcome: str
) -> None:
    time = VirtualTime()
    server = Server(time)
    before(server)
    answers: list[tuple[bytes | None, int]] = []
    wire = Wire(time, random.Random(1), Counter())
    Exchange(wire, "client", server, b"x", TIMEOUT_US, lambda answer: answers.append((answer, time.now_us)))
    meanwhile(server)
    time.run_until(2 * TIMEOUT_US)
    ((answer, at_us),) = answers
    if outcome == ANSWERED:
        assert answer == b"x"
    else:
        assert (answer, at_us == TIMEOUT_US) == (None, outcome == SILENT)


def test_a_message_arrives_in_time_also_the_second_time() -> None:
    """Checks that wait for the silence of a node rely on it."""
    time = VirtualTime()
    late_us: list[int] = []
    wire = Wire(time, random.Random(1), Counter())
    wire.faults = LinkFaults(delay_us_max=400_000, duplicates=1.0, slow_links={(1, 2): 70_000})
    for _ in range(1_000):
        wire.carry(1, 2, lambda: late_us.append(time.now_us))
    time.run_until(wire.faults.late_us_max)
    assert len(late_us) == 2_000
    assert max(late_us) > 0.9 * wire.faults.late_us_max


def test_what_was_sent_under_other_faults_may_still_come() -> None:
    """A voter without power was once counted as silent while its last Fetch, sent over slow links, came."""
    time = VirtualTime()
    wire = Wire(time, random.Random(1), Counter())
    wire.faults = LinkFaults(delay_us_max=300_000, duplicates=0.5)
    arrived: list[int] = []
    for _ in range(50):
        wire.carry(1, 2, lambda: arrived.append(time.now_us))
    wire.faults = LinkFaults()
    until_us = wire.late_us_max
    time.run_until(until_us)
    assert arrived[-1] == until_us > wire.faults.late_us_max
    assert wire.late_us_max == wire.faults.late_us_max
