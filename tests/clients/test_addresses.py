"""One name with several addresses: whatever is behind the others, a client reaches the one that answers.

Each kind of bad address is tried by each client: a controller that asks another one, the command line, and
the exporter; with IPv4 first, IPv6 first, and the good one as the second of three; with and without SSL.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl_protocol.message import Message
from tests.clients.situation import (
    ANSWERED,
    PLAINTEXT,
    SASL,
    SSL,
    TIMEOUT_MS,
    Situation,
    admin_of,
    asker_of,
    observer_of,
)
from tests.server.serving import run, unregister
from tests.support.wire.bad_addresses import BEHAVIOURS, NAME, OTHER_V4, THIRD_V4, V4, V6

ORDERS = {
    "ipv4-first": ([V4], V6, []),
    "ipv6-first": ([V6], V4, []),
    "second-of-three": ([OTHER_V4], V6, [V4]),
    "after-two": ([V4, OTHER_V4], THIRD_V4, []),
}
"""Bad addresses, the good one, more bad ones."""


ALWAYS = ["refuses", "drops", *BEHAVIOURS]
KINDS = {
    PLAINTEXT: [*ALWAYS, "answers-only-versions"],
    SSL: [
        *ALWAYS,
        "no-ssl",
        "shakes-hands-only",
        "another-authority",
        "another-name",
        "answers-only-versions",
    ],
    SASL: ["silent", "no-answer-to-sasl", "answers-only-versions"],
}
NEXT_TIME = ("answers-only-versions", "no-answer-to-sasl")
"""The connection is made, and its use is seen only when a request is not answered: the next request is."""


def controller_reaches(there: Situation, attempts: int) -> bool:
    async def test() -> None:
        asker = asker_of(there, TIMEOUT_MS if attempts == 1 else 600)
        try:
            for send_id in range(attempts):
                asker.ask(send_id, unregister(1))
                answers.append(await asker.answer_to(send_id))
        finally:
            await asker.peers.stop()

    answers: list[Message | None] = []
    run(test)
    return answers[-1] == ANSWERED


def command_line_reaches(there: Situation, attempts: int) -> bool:
    with admin_of(there, request_timeout_ms=TIMEOUT_MS if attempts == 1 else 600) as admin:
        return admin.cluster_id() == "c1"


def exporter_reaches(there: Situation, attempts: int) -> bool:
    timeout_s = 2.0 if attempts == 1 else 4.0  # of which one node may take a third, or one second
    observer = observer_of(there, timeout_s)
    try:
        return observer.cluster_id() == "c1"
    finally:
        observer.close()


CLIENTS = {"peer": controller_reaches, "cli": command_line_reaches, "exporter": exporter_reaches}

CASES = [
    pytest.param(
        protocol,
        kind,
        client,
        order,
        # Each kind is tried by one of the clients in one of the orders; all of them take a minute.
        marks=[] if (number % len(CLIENTS), number % len(ORDERS)) == (turn, index) else [pytest.mark.long],
        id=f"{protocol}-{kind}-{client}-{order}",
    )
    for protocol in KINDS
    for number, kind in enumerate(KINDS[protocol])
    for turn, client in enumerate(CLIENTS)
    for index, order in enumerate(ORDERS)
]


@pytest.mark.parametrize(("protocol", "kind", "client", "order"), CASES)
def test_the_address_that_answers_is_reached(
    protocol: str, kind: str, client: str, order: str, situation: Callable[[str], Situation]
) -> None:
    there = situation(protocol)
    before, good, after = ORDERS[order]
    there.names.addresses[NAME] = [*before, good, *after]
    for address in [*before, *after]:
        there.spoil(kind, address)
    there.good(good)
    silent_count = len([*before, *after]) if kind in NEXT_TIME else 0
    assert CLIENTS[client](there, 1 + silent_count)
