"""Records that bring no data, or little: what a client may send after its handshake, and during it."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.loop.request_turns import RequestTurns
from kraftctl_protocol.frames import encode_frame
from kraftctl_security.tls.ssl_records import (
    HANDSHAKE_BYTES_MAX,
    RECORDS_PER_TURN,
    WITHOUT_DATA_BYTES,
    WITHOUT_DATA_MAX,
    ExcessiveRecordsError,
    SslRecords,
)
from tests.server.security.ssl_serving import context_of, node_context, serving_ssl
from tests.server.serving import (
    Client,
    both_loops,
    connect,
    eventually,
    request_bytes,
    unregister,
)
from tests.support.wire.tls_records import ALERT, HANDSHAKE, ClientRecords

TICKET = b"\x04\x00\x00\x15" + bytes(8) + b"\x01\x00\x00\x08" + bytes(10)
USER_CANCELED = b"\x01\x5a"

WITHOUT_DATA: dict[str, Callable[[ClientRecords], bytes]] = {
    "changes-of-keys": lambda client: client.key_update(),
    "changes-of-keys-that-want-answers": lambda client: client.key_update(answered=True),
    "empty": lambda client: client.record(b""),
    "padding": lambda client: client.record(b"", padding=1_000),
    "warnings": lambda client: client.record(USER_CANCELED, ALERT),
    "tickets": lambda client: client.record(TICKET, HANDSHAKE),
    "pieces-of-a-message": lambda client: client.record(b"\x18", HANDSHAKE),
    "changes-of-cipher": lambda client: b"\x14\x03\x03\x00\x01\x01",
    "unknown-kinds": lambda client: client.record(b"x", 99),
}


class Side:
    """A client whose handshake is its own: `context` logs its keys."""

    def __init__(self, directory: Path, version: str = "TLSv1.3") -> None:
        context = context_of(ssl__enabled__protocols=version)
        self._log = directory / "keys"
        self._log.touch()
        context.keylog_filename = str(self._log)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.ssl = context.wrap_bio(self.incoming, self.outgoing, server_hostname="127.0.0.1")

    def step(self, received: bytes = b"") -> tuple[bool, bytes]:
        """Whether it is finished, and what it sends."""
        self.incoming.write(received)
        try:
            self.ssl.do_handshake()
        except ssl.SSLWantReadError:
            return False, self.outgoing.read()
        return True, self.outgoing.read()

    def records(self) -> ClientRecords:
        return ClientRecords(self.ssl, self._log)


def established(directory: Path) -> tuple[SslRecords, ClientRecords]:
    """Both sides, without a socket."""
    server, side = SslRecords(node_context()), Side(directory)
    received = b""
    while True:
        is_finished, sent = side.step(received)
        server.receive(sent)
        if server.handshake() and is_finished:
            return server, side.records()
        received = server.encrypted()


async def connected(server: SocketServer, directory: Path) -> tuple[Client, ClientRecords]:
    client, side = await connect(server), Side(directory)
    received = b""
    while True:
        is_finished, sent = side.step(received)
        client.send(sent)
        if is_finished:
            return client, side.records()
        received = await client.reader.read(65_536)


def all_blocks(server: SslRecords) -> bytes:
    found = b""
    while server.has_record:
        found += b"".join(server.blocks())
    return found


@pytest.mark.parametrize("kind", WITHOUT_DATA)
def test_records_without_data_are_few(kind: str, tmp_path: Path) -> None:
    server, client = established(tmp_path)
    for _ in range(WITHOUT_DATA_MAX + 1):
        server.receive(WITHOUT_DATA[kind](client))
    with pytest.raises((ssl.SSLError, ExcessiveRecordsError)):
        all_blocks(server)


def test_changes_of_keys_are_allowed_and_are_counted_by_data(tmp_path: Path) -> None:
    server, client = established(tmp_path)
    for _ in range(3):
        for _ in range(WITHOUT_DATA_MAX):
            server.receive(client.key_update() + client.record(b"x"))
        assert all_blocks(server) == b"x" * WITHOUT_DATA_MAX
        for _ in range(4):
            server.receive(client.record(bytes(WITHOUT_DATA_BYTES // 4)))
        assert len(all_blocks(server)) == WITHOUT_DATA_BYTES
    for _ in range(WITHOUT_DATA_MAX + 1):
        server.receive(client.key_update() + client.record(b"x"))
    with pytest.raises(ExcessiveRecordsError, match="32 records without data"):
        all_blocks(server)


def test_one_turn_reads_a_limited_number_of_records(tmp_path: Path) -> None:
    server, client = established(tmp_path)
    count = 3 * RECORDS_PER_TURN
    server.receive(b"".join(client.record(bytes([number % 256])) for number in range(count)))
    for turn in range(3):
        assert len(server.blocks()) == RECORDS_PER_TURN, turn
    assert not server.has_record


@pytest.mark.parametrize("size", [1, 3, 1_000, 16_000])
def test_records_may_arrive_in_any_pieces(size: int, tmp_path: Path) -> None:
    server, client = established(tmp_path)
    data = bytes(range(256)) * 100
    sent = b"".join(client.record(data[start : start + 7_000]) for start in range(0, len(data), 7_000))
    found = b""
    for start in range(0, len(sent), size):
        server.receive(sent[start : start + size])
        found += all_blocks(server)
    assert found == data


def test_a_record_that_is_too_long_is_refused_by_its_header(tmp_path: Path) -> None:
    server, _ = established(tmp_path)
    server.receive(b"\x17\x03\x03\xff\xff" + bytes(100))
    with pytest.raises(ssl.SSLError):
        all_blocks(server)


HANDSHAKES = {
    "bytes": b"\x16\x03\x01\x40\x00" + b"\x01\x00\xff\xff" + bytes(16_380),
    "pieces": b"\x16\x03\x01\x00\x01\x01" + b"\x16\x03\x01\x00\x01\x00" * 10_000,
    "empty": b"\x16\x03\x01\x00\x00" * 10_000,
    "warnings": b"\x15\x03\x01\x00\x02\x01\x5a" * 10_000,
}


@pytest.mark.parametrize("case", HANDSHAKES)
def test_a_handshake_has_limited_bytes_and_records(case: str) -> None:
    server = SslRecords(node_context())

    def send() -> None:
        for _ in range(1 + HANDSHAKE_BYTES_MAX // len(HANDSHAKES[case])):
            server.receive(HANDSHAKES[case])
            server.handshake()

    with pytest.raises((ssl.SSLError, ExcessiveRecordsError)):
        send()


HERE = bytes([127, 0, 0, 1])


@both_loops
@pytest.mark.parametrize("kind", WITHOUT_DATA)
async def test_a_flood_of_records_without_data_ends_the_connection(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It may come together with the end of the handshake, in one piece of 256 KiB."""
    async with serving_ssl() as (server, handler):
        waits: Any = asyncio.get_running_loop()
        turns = handler.turns = RequestTurns(time.monotonic_ns, waits, handler, lambda: True)
        turns.begin_later(b"another", lambda: None)  # addresses have accounts while others wait
        client, records = await connected(server, tmp_path)
        if kind.startswith("changes-of-keys"):
            client.send(records.record(encode_frame(request_bytes(unregister(1), 0))))
            await handler.until(lambda: len(handler.requests) == 1)
        used_ns = turns._times.used(HERE)
        client.send(b"".join(WITHOUT_DATA[kind](records) for _ in range(5_000)))
        await client.expect_ended()
        await eventually(lambda: server.metrics.connections_count == 0)
        if kind.startswith("changes-of-keys"):
            taken_ns = turns._times.used(HERE) - used_ns
            assert taken_ns > WITHOUT_DATA_MAX * 1_000, "what is refused has taken time, too"
    assert (
        "it sends more than 32 records without data" in caplog.text
        or "a record cannot be read" in caplog.text
    )


@both_loops
async def test_requests_in_records_of_a_byte_are_answered_in_turn(tmp_path: Path) -> None:
    """Ten of them in one piece are some hundred records; others are served meanwhile."""
    async with serving_ssl() as (server, handler):
        client, records = await connected(server, tmp_path)
        other, other_records = await connected(server, tmp_path)
        frames = b"".join(
            encode_frame(request_bytes(unregister(number), 0, correlation_id=number)) for number in range(10)
        )
        client.send(b"".join(records.record(frames[at : at + 1]) for at in range(len(frames))))
        other.send(other_records.record(encode_frame(request_bytes(unregister(1), 0))))
        assert await other.reader.read(1)
        await eventually(lambda: len(handler.contexts) == 11)
        client.close()
        other.close()
