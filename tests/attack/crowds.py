"""Crowds: many connections, together, none of which does anything slow by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from tests.attack import frames
from tests.attack.client import Client
from tests.attack.dense_bodies import DENSE, tags
from tests.attack.frames import compact, request

BYTES = 63_000
"""A request of this size is decoded on the loop."""

CONNECTIONS = 400

TAKES = 3
"""Each connection sends this many requests, the next one when it has a response."""

RESPONSE_SECONDS_MAX = 60.0


def _dense(name: str) -> bytes:
    return DENSE[name](BYTES)


def _damaged(name: str) -> bytes:
    """The last byte is missing: all before it is decoded."""
    return _dense(name)[:-1]


def _long_header() -> bytes:
    """ApiVersions behind 9,000 tagged fields of its header."""
    body = compact(b"attack") + compact(b"1") + b"\0"
    return request(frames.API_VERSIONS, 3, body, tags=tags(27_000))


def _long_client_id() -> bytes:
    return request(frames.API_VERSIONS, 3, compact(b"a" * 20_000) + compact(b"1") + b"\0")


KINDS = (
    "CreatePartitions",
    "AlterClientQuotas",
    "AlterPartition",
    "DescribeConfigs",
    "Fetch",
    "Vote",
    "DeleteTopics",
)

CROWDS: dict[str, Callable[[], bytes]] = {
    **{name: partial(_dense, name) for name in KINDS},
    "damaged AlterClientQuotas": partial(_damaged, "AlterClientQuotas"),
    "long header": _long_header,
    "long client software name": _long_client_id,
}
"""By name: the request that each connection of the crowd sends."""


def crowd(connect: Callable[[], Client], payload: bytes) -> str:
    """All send before one reads; who is closed comes again."""
    clients = [connect() for _ in range(CONNECTIONS)]
    answered = closed = 0
    for _ in range(TAKES):
        for place, client in enumerate(clients):
            if not client.open:
                clients[place] = client = connect()
            client.send(payload)
        for client in clients:
            client.wait_at_most(RESPONSE_SECONDS_MAX)
            if client.receive():
                answered += 1
            else:
                closed += 1
    threading.Event().wait(0.2)
    return f"{CONNECTIONS} connections, {len(payload):,} bytes each: {answered} answered, {closed} closed"
