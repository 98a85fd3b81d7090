"""Attacks on a listener that authenticates by SASL, by clients that never do; brokers use another one."""

from __future__ import annotations

import os
import struct
import threading
import time
from typing import TYPE_CHECKING, Final

from tests.attack.client import Client
from tests.attack.frames import API_VERSIONS, compact, request, string

if TYPE_CHECKING:
    from tests.attack.attacks import Target

SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36

TOKEN_BYTES_MAX: Final = 8 * 1024
"""A token of PLAIN or SCRAM and its header; Kafka's default of sasl.server.max.receive.size is 512 KiB."""

UNFINISHED_COUNT: Final = 1_100
"""More connections that are not authenticated than there may be. Of Kafka's size, 560 MB."""

CONNECTIONS_IN_A_ROW: Final = 25
PAUSE_SECONDS: Final = 0.01
"""What does not fit into the backlog waits a second for the kernel to try again."""

MODULES = "org.apache.kafka.common.security"
SASL: Final = {
    "listeners": "CONTROLLER://127.0.0.1:{port},CLIENTS://127.0.0.1:{sasl_port}",
    "controller.listener.names": "CONTROLLER,CLIENTS",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,CLIENTS:SASL_PLAINTEXT",
    "listener.name.clients.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    "listener.name.clients.plain.sasl.jaas.config": (
        f'{MODULES}.plain.PlainLoginModule required user_alice="secret";'
    ),
    "listener.name.clients.scram-sha-512.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
}

HANDSHAKE: Final = {
    name: request(SASL_HANDSHAKE, 1, string(name), flexible=False) for name in (b"PLAIN", b"SCRAM-SHA-512")
}
VERSIONS: Final = request(API_VERSIONS, 3, compact(b"attack") + compact(b"1") + b"\0")


def token(data: bytes) -> bytes:
    return request(SASL_AUTHENTICATE, 2, compact(data) + b"\0")


def connect(target: Target) -> Client:
    return target.connect(port=target.controller.sasl_port)


def unfinished_tokens(target: Target) -> str:
    """Tokens of the largest size without their last byte, and frames that are larger."""
    almost = struct.pack(">i", TOKEN_BYTES_MAX) + os.urandom(TOKEN_BYTES_MAX - 1)
    clients = []
    for number in range(UNFINISHED_COUNT):
        client = connect(target)
        if number % 2:
            client.ask(HANDSHAKE[b"PLAIN"])
        client.wait_at_most(1.0)
        client.send_raw(almost)
        clients.append(client)
    refused = 0
    for size in (TOKEN_BYTES_MAX + 1, 104_857_600, 0x7FFFFFFF):
        client = connect(target)
        client.send_raw(struct.pack(">i", size) + bytes(100_000))
        refused += not client.receive()
    threading.Event().wait(target.scale.seconds)
    return f"{len(clients)} tokens without an end, {refused} of 3 longer ones refused"


def silent_clients(target: Target) -> str:
    """Connections that ask for versions, and say nothing more."""
    clients = []
    for number in range(target.scale.idle):
        if number % CONNECTIONS_IN_A_ROW == 0:
            threading.Event().wait(PAUSE_SECONDS)
        client = connect(target)
        if number % 2:
            client.send(VERSIONS)
        clients.append(client)
    threading.Event().wait(target.scale.seconds)
    return f"{len(clients)} connections that do not authenticate"


def first_messages(target: Target) -> str:
    """SCRAM's first messages and wrong passwords, over and over from one address."""
    deadline = time.monotonic() + target.scale.seconds
    counts = [0] * 8

    def attack(place: int) -> None:
        client = connect(target)
        while time.monotonic() < deadline:
            if not client.open:
                client = connect(target)
            is_plain = place % 4 == 0
            client.ask(HANDSHAKE[b"PLAIN" if is_plain else b"SCRAM-SHA-512"])
            nonce = os.urandom(12).hex().encode()
            data = b"\0alice\0" + nonce if is_plain else b"n,,n=user-" + nonce + b",r=" + nonce
            answered = client.ask(token(data))
            counts[place] += bool(answered)
            if not is_plain:
                client.close()

    threads = [threading.Thread(target=attack, args=(place,)) for place in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} tokens answered"
