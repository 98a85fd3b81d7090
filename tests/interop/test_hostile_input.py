"""Bytes that no broker would send, on the controller's port, while brokers are at work."""

from __future__ import annotations

import contextlib
import random
import socket
import struct

import pytest

from tests.support.processes.clients import create_topic, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, await_live
from tests.support.processes.kafka import Cluster, KraftctlController

pytestmark = pytest.mark.interop

MEMORY_GROWTH_MAX_BYTES = 64 * 1024 * 1024

FRAME_BYTES_MAX = 100 * 1024 * 1024
"""Default of socket.request.max.bytes."""


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def request(api_key: int, version: int, body: bytes) -> bytes:
    return frame(struct.pack(">hhih", api_key, version, 7, 4) + b"evil" + body)


def hostile_inputs() -> list[bytes]:
    """Frames that announce too many bytes, unknown APIs, damaged and random bodies, another protocol."""
    rng = random.Random(20)
    inputs = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rng.randbytes(200),
        struct.pack(">i", 2**31 - 1) + rng.randbytes(1000),
        struct.pack(">i", -1) + rng.randbytes(1000),
        struct.pack(">i", 0),
        struct.pack(">i", FRAME_BYTES_MAX) + rng.randbytes(100_000),
        request(999, 0, b""),
        request(-1, -1, b""),
        request(56, 99, rng.randbytes(64)),
        request(62, 4, b"\x00\xff\xff\xff\xff\x0f" * 10),
        request(63, 1, b""),
        request(1, 18, b"\x00" + b"\xff" * 200),
        request(19, 7, b"\x00\xff\xff\xff\x7f" + rng.randbytes(100)),
        request(58, 0, b"\x00\xff\xff\xff\x7f"),
    ]
    inputs += [request(api_key, version, rng.randbytes(100)) for api_key in range(90) for version in (0, 4)]
    inputs += [rng.randbytes(rng.randrange(1, 2000)) for _ in range(200)]
    return inputs


def send(port: int, payload: bytes, *, half_open: bool) -> None:
    """Sends and waits for a response or the end of the connection; half open: disconnects immediately."""
    with contextlib.suppress(OSError):
        with socket.create_connection(("localhost", port), timeout=0.2) as connection:
            connection.sendall(payload)
            if not half_open:
                connection.recv(4096)


def test_garbage_disturbs_no_client(cluster: Cluster) -> None:
    """Brokers stay unfenced and are served, and the controller's memory does not grow."""
    create_topic(cluster.bootstrap_servers, "undisturbed", partitions=3)
    processes = [node.process for node in cluster.nodes]
    controller = cluster.controller
    before_bytes = controller.resident_bytes() if isinstance(controller, KraftctlController) else 0

    with contextlib.ExitStack() as held_open:
        for _ in range(50):
            idle = held_open.enter_context(
                socket.create_connection(("localhost", controller.port), timeout=5.0)
            )
            idle.sendall(struct.pack(">i", 1_000_000) + b"only the beginning")
        for number, payload in enumerate(hostile_inputs()):
            send(controller.port, payload, half_open=number % 3 == 0)
        create_topic(cluster.bootstrap_servers, "created-under-attack", partitions=3)

    produce(cluster.bootstrap_servers, "undisturbed", [b"value"] * 1_000)
    await_live(cluster, {1, 2, 3})
    assert [node.process for node in cluster.nodes] == processes
    assert all(node.running for node in cluster.nodes)
    if isinstance(controller, KraftctlController):
        assert controller.resident_bytes() - before_bytes < MEMORY_GROWTH_MAX_BYTES
    else:
        assert JAVA_CONTROLLER
