"""Three brokers and their largest request, in a process of their own: what an attack does to them.

`honest_brokers.py PORT CLUSTER_ID [ssl]` registers brokers 1, 2 and 3, each from an address of its own, sends
their heartbeats and now and then a request of 1 MB. Each line on its input is answered with one line of JSON:
what was seen since the line before.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import ssl
import struct
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests.attack.encryption import client_context
from tests.attack.frames import SET, config_change, frame, heartbeat, registration

ADDRESSES = {1: "127.0.0.2", 2: "127.0.0.3", 3: "127.0.0.4"}

HEARTBEAT_PAUSE_S = 0.05
LARGE_PAUSE_S = 0.7
RETRY_PAUSE_S = 0.2

LARGE_VALUES = [(b"name.%d" % number, SET, b"x" * 32_000) for number in range(32)]
"""1 MB of configurations, which are validated and not written: the bytes matter here, not the work."""


@dataclass
class Seen:
    """Since the last report. A request that still waits counts with the time that it has waited."""

    heartbeats: int = 0
    slowest_heartbeat_ms: float = 0.0
    refused_heartbeats: int = 0
    lost_connections: int = 0
    large_served: int = 0
    large_lost: int = 0
    large_refused: int = 0
    slowest_large_ms: float = 0.0
    ready: bool = False


class Honest:
    """One connection of a broker with at most one request in flight."""

    def __init__(self, port: int, broker_id: int, context: ssl.SSLContext | None) -> None:
        self.broker_id = broker_id
        self.due_at = 0.0
        self.sent_at = 0.0
        self.answered = 0
        self._port = port
        self._context = context
        self._socket: socket.socket | None = None
        self._unsent = b""
        self._received = b""

    def fileno(self) -> int:
        assert self._socket is not None
        return self._socket.fileno()

    @property
    def waits_ms(self) -> float:
        return (time.monotonic() - self.sent_at) * 1000 if self.sent_at else 0.0

    def start(self, payload: bytes) -> None:
        """May raise OSError."""
        if self._socket is None:
            self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.settimeout(1.0)
            self._socket.bind((ADDRESSES[self.broker_id], 0))
            self._socket.connect(("127.0.0.1", self._port))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                self._socket.settimeout(10.0)
                self._socket = self._context.wrap_socket(self._socket)
            self._socket.setblocking(False)
        self._unsent = frame(payload)
        self._received = b""
        self.sent_at = time.monotonic()
        self.proceed(selectors.EVENT_WRITE)

    @property
    def interest(self) -> int:
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)

    def proceed(self, ready: int) -> bytes | None:
        """The whole response, without its size, once it is there. OSError when the connection is lost."""
        assert self._socket is not None
        try:
            if ready & selectors.EVENT_WRITE and self._unsent:
                self._unsent = self._unsent[self._socket.send(self._unsent) :]
            if ready & selectors.EVENT_READ:
                while True:  # of SSL, a record at a time
                    received = self._socket.recv(1 << 20)
                    if not received:
                        raise ConnectionError("closed")
                    self._received += received
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        if len(self._received) >= 4:
            size = struct.unpack_from(">i", self._received)[0]
            if len(self._received) >= 4 + size:
                self.sent_at = 0.0
                return self._received[4:]
        return None

    def lost(self) -> None:
        self.sent_at = 0.0
        if self._socket is not None:
            self._socket.close()
        self._socket = None


class HonestBrokers:
    """The three brokers, the connection for large requests, and the loop that serves them."""

    def __init__(self, port: int, cluster_id: str, context: ssl.SSLContext | None) -> None:
        self._cluster_id = cluster_id
        self._incarnations = {broker_id: os.urandom(16) for broker_id in ADDRESSES}
        self._epochs: dict[int, int] = {}
        self._brokers = [Honest(port, broker_id, context) for broker_id in ADDRESSES]
        self._large = Honest(port, 1, context)
        self._seen = Seen()
        self._large_payload = config_change(LARGE_VALUES, resource=b"1", validate_only=True)

    def run(self) -> None:
        """Returns at the end of the input."""
        os.set_blocking(0, False)
        while True:
            now = time.monotonic()
            for one in [*self._brokers, self._large]:
                if not one.sent_at and now >= one.due_at:
                    self._start(one, now)
            with selectors.DefaultSelector() as selector:
                selector.register(0, selectors.EVENT_READ)
                for one in [*self._brokers, self._large]:
                    if one.sent_at:
                        selector.register(one, one.interest)
                ready = selector.select(0.005)
            for key, events in ready:
                if isinstance(key.fileobj, Honest):
                    self._proceed(key.fileobj, events)
                elif not self._report():
                    return

    def _start(self, one: Honest, now: float) -> None:
        payload = self._payload(one)
        if not payload:
            one.due_at = now + RETRY_PAUSE_S
            return
        try:
            one.start(payload)
        except OSError:
            self._was_lost(one)

    def _payload(self, one: Honest) -> bytes:
        epoch = self._epochs.get(one.broker_id)
        if one is self._large:
            if epoch is None:
                return b""
            return self._large_payload
        if epoch is None:
            return registration(self._cluster_id, one.broker_id, self._incarnations[one.broker_id])
        return heartbeat(one.broker_id, epoch, one.answered)

    def _proceed(self, one: Honest, events: int) -> None:
        took_ms = one.waits_ms
        try:
            answer = one.proceed(events)
        except OSError:
            self._was_lost(one)
            return
        if answer is None:
            return
        one.answered += 1
        # Correlation id, tags and throttle time come before the error code, or before the array of them.
        error_code = struct.unpack_from(">h", answer, 10 if one is self._large else 9)[0]
        now = time.monotonic()
        seen = self._seen
        if one is self._large:
            one.due_at = now + LARGE_PAUSE_S
            seen.slowest_large_ms = max(seen.slowest_large_ms, took_ms)
            seen.large_served += error_code == 0
            seen.large_refused += error_code != 0
        elif one.broker_id not in self._epochs:
            one.due_at = now + RETRY_PAUSE_S
            if error_code == 0:
                self._epochs[one.broker_id] = struct.unpack_from(">q", answer, 11)[0]
        else:
            one.due_at = now + HEARTBEAT_PAUSE_S
            seen.heartbeats += 1
            seen.slowest_heartbeat_ms = max(seen.slowest_heartbeat_ms, took_ms)
            seen.refused_heartbeats += error_code != 0

    def _was_lost(self, one: Honest) -> None:
        if one is self._large:
            self._seen.large_lost += 1
        else:
            self._seen.lost_connections += 1
        one.lost()
        one.due_at = time.monotonic() + RETRY_PAUSE_S

    def _report(self) -> bool:
        """Whether the input has not ended."""
        asked = os.read(0, 4096)
        if not asked:
            return False
        seen = self._seen
        for one in self._brokers:
            if one.broker_id in self._epochs:
                seen.slowest_heartbeat_ms = max(seen.slowest_heartbeat_ms, one.waits_ms)
        seen.slowest_large_ms = max(seen.slowest_large_ms, self._large.waits_ms)
        seen.ready = len(self._epochs) == len(ADDRESSES)
        print(json.dumps(asdict(seen)), flush=True)
        self._seen = Seen()
        return True


if __name__ == "__main__":
    HonestBrokers(int(sys.argv[1]), sys.argv[2], client_context() if "ssl" in sys.argv[3:] else None).run()
