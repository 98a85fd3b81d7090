"""Attacks on a listener with SSL: handshakes and records that cost the controller more than their sender."""

from __future__ import annotations

import ssl
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.attack.client import Client
from tests.attack.encryption import client_context
from tests.support.wire.tls_records import FINITE_FIELDS, ClientRecords, client_hello

if TYPE_CHECKING:
    from tests.attack.attacks import Target

FLOODS: Final = 40
"""The number of connections that send records, each 9,000 of them: 10 MB together."""

RECORDS: Final = 9_000


def finite_fields(target: Target) -> str:
    """ClientHellos that offer the largest finite field alone, on twenty threads."""
    hello = client_hello([FINITE_FIELDS["ffdhe8192"]], shares=[FINITE_FIELDS["ffdhe8192"]])
    deadline = time.monotonic() + target.scale.seconds
    answered: list[bool] = []

    def ask() -> None:
        while time.monotonic() < deadline:
            client = Client(target.controller.port)
            client.send_raw(hello)
            answered.append(client.open and client.socket.recv(1) == b"\x16")
            client.close()

    _on_threads(20, ask)
    return f"{sum(answered)} of {len(answered)} accepted"


def changes_of_keys(target: Target) -> str:
    """After a handshake, changes of keys that want answers."""
    return _flood(target, lambda records: [records.key_update(answered=True) for _ in range(RECORDS)])


def records_of_a_byte(target: Target) -> str:
    """The beginning of a request of 9 kB, a byte in each record."""
    request = RECORDS.to_bytes(4, "big") + bytes(RECORDS - 4)
    return _flood(
        target, lambda records: [records.record(request[at : at + 1]) for at in range(len(request))]
    )


def _flood(target: Target, make: Callable[[ClientRecords], list[bytes]]) -> str:
    """Makes all records first, then sends those of all connections together, over and over."""
    made = [_connected(target) for _ in range(FLOODS)]
    floods = [(client, b"".join(make(records))) for client, records in made]
    threads = [threading.Thread(target=client.send_raw, args=(flood,)) for client, flood in floods]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    threading.Event().wait(target.scale.seconds)
    return f"{len(floods)} connections, {sum(len(flood) for _, flood in floods):,} bytes"


def _connected(target: Target) -> tuple[Client, ClientRecords]:
    client, context = Client(target.controller.port), client_context()
    target.opened.append(client)
    with tempfile.NamedTemporaryFile() as log:
        context.keylog_filename = log.name
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        side = context.wrap_bio(incoming, outgoing)
        while True:
            try:
                side.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.send_raw(outgoing.read())
                incoming.write(client.socket.recv(65_536))
        client.send_raw(outgoing.read())
        return client, ClientRecords(side, Path(log.name))


def _on_threads(count: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
