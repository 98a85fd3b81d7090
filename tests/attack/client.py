"""One connection, plain or with SSL: frames out, frames in, and no surprise when it is closed."""

from __future__ import annotations

import socket
import ssl
import struct

from tests.attack.frames import frame

HANDSHAKE_TIMEOUT_S = 10.0
"""Others may be making theirs."""


class Client:
    """`send` and `receive` return whether, and what, the controller took and answered; they do not raise."""

    def __init__(
        self,
        port: int,
        source: str = "127.0.0.1",
        *,
        receive_bytes: int = 0,
        timeout_s: float = 10.0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(timeout_s)
        self.open = True
        try:
            if source != "127.0.0.1":
                self.socket.bind((source, 0))
            self.socket.connect(("127.0.0.1", port))
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                self.socket.settimeout(max(timeout_s, HANDSHAKE_TIMEOUT_S))
                self.socket = context.wrap_socket(self.socket)
                self.socket.settimeout(timeout_s)
        except OSError:
            self.close()

    def wait_at_most(self, timeout_s: float) -> None:
        if self.open:
            self.socket.settimeout(timeout_s)

    def send(self, payload: bytes) -> bool:
        return self.send_raw(frame(payload))

    def send_raw(self, data: bytes) -> bool:
        if self.open:
            try:
                self.socket.sendall(data)
            except OSError:
                self.close()
        return self.open

    def receive(self) -> bytes:
        """The next response; empty when the connection is closed, or nothing comes in time."""
        size = self._exactly(4)
        return self._exactly(struct.unpack(">i", size)[0]) if size else b""

    def ask(self, payload: bytes) -> bytes:
        return self.receive() if self.send(payload) else b""

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size and self.open:
            try:
                chunk = self.socket.recv(min(size - len(data), 1 << 20))
            except OSError:
                chunk = b""
            if not chunk:
                self.close()
            data += chunk
        return bytes(data) if len(data) == size else b""

    def close(self) -> None:
        self.open = False
        self.socket.close()
