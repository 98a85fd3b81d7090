"""A node that a client connects to over TLS, and that sends what no controller sends."""

from __future__ import annotations

import contextlib
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from tests.support.wire.tls_records import ClientRecords

Conversation = Callable[["HostileSslNode", socket.socket], None]


class HostileSslNode:
    """Talks to each client as `conversation` says, on a thread of its own."""

    def __init__(self, conversation: Conversation, context: ssl.SSLContext) -> None:
        self.context = context
        self.ended = threading.Event()
        self._conversation = conversation
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> HostileSslNode:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(20.0)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            with client, contextlib.suppress(OSError):
                client.settimeout(20.0)
                self._conversation(self, client)

    def records_after_handshake(self, client: socket.socket) -> ClientRecords:
        """The records that it may send from then on, of TLS 1.3."""
        with tempfile.TemporaryDirectory() as directory:
            log = Path(directory) / "keys"
            log.touch()
            self.context.keylog_filename = str(log)
            side = self.shake_hands(client)
            return ClientRecords(side, log, "SERVER_TRAFFIC_SECRET_0")

    def shake_hands(self, client: socket.socket) -> ssl.SSLObject:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        side = self.context.wrap_bio(incoming, outgoing, server_side=True)
        while True:
            received = client.recv(65_536)
            if not received:
                raise ConnectionResetError("the client has left")
            incoming.write(received)
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                client.sendall(outgoing.read())
                continue
            client.sendall(outgoing.read())
            return side


def until_closed(client: socket.socket, make: Callable[[], bytes]) -> None:
    """Sends until the client has closed the connection."""
    while True:
        client.sendall(make())
