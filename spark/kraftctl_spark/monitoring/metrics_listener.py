"""Serves the metrics of an export over HTTP, on threads beside it: GET and HEAD of /metrics, nothing else.

Heads, times and threads are bounded; a connection beyond that is closed.
"""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final
from urllib.parse import urlsplit

from kraftctl_security.exposition import CONTENT_TYPE

HEAD_BYTES_MAX: Final = 8 * 1024
HEAD_SECONDS_MAX: Final = 2.0
"""Prometheus sends it with the connection: who is silent does not keep it out for an interval."""
ANSWER_SECONDS_MAX: Final = 10.0
"""Prometheus waits this long by default; the controller's listener has the same limit."""
CONNECTIONS_MAX: Final = 16
PATH: Final = "/metrics"
TEXT: Final = "text/plain; charset=utf-8"


def listener_address(text: str) -> tuple[str, int]:
    """Returns host and port; ValueError with what is allowed."""
    parsed = urlsplit(text)
    port = parsed.port
    if parsed.scheme != "http" or not parsed.hostname or port is None or parsed.path.strip("/"):
        raise ValueError(f"{text!r}: write it like http://127.0.0.1:9404")
    return parsed.hostname, port


@contextmanager
def serving(address: tuple[str, int], text: Callable[[], str]) -> Iterator[int]:
    """Serves until the end of the block; gives the port. OSError if another process has it."""
    try:
        server = _Server(address, text)
    except OSError as error:
        raise OSError(
            f"--metrics-listener: cannot listen on {address[0]}:{address[1]} ({error.strerror or error}):"
            " give an address of this machine, and a port that is free"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], text: Callable[[], str]) -> None:
        self.text = text
        self.free = threading.BoundedSemaphore(CONNECTIONS_MAX)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Request)

    def verify_request(self, request: object, client_address: object) -> bool:
        """Returns whether there is a thread for one more connection."""
        return self.free.acquire(blocking=False)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts a thread for a connection; without one, its place is free again."""
        try:
            super().process_request(request, client_address)
        except BaseException:
            self.free.release()
            raise

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing: a client that goes away is no concern of the export."""


class _Request(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        connection: socket.socket = self.request
        head = self._head(connection)
        if head is None:
            return
        method, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1")
        status, kind, body = "200 OK", CONTENT_TYPE, b""
        if method not in (b"GET", b"HEAD"):
            status, kind, body = "405 Method Not Allowed", TEXT, b"GET and HEAD only\n"
        elif path != PATH:
            status, kind, body = "404 Not Found", TEXT, f"only {PATH} is here\n".encode()
        else:
            body = self.server.text().encode()
        lines = (
            f"HTTP/1.1 {status}",
            f"Content-Type: {kind}",
            f"Content-Length: {len(body)}",
            "Connection: close",
        )
        answer = "\r\n".join([*lines, "", ""]).encode()
        with suppress(OSError):
            connection.sendall(answer if method == b"HEAD" else answer + body)

    def _head(self, connection: socket.socket) -> bytes | None:
        """Returns the head of the request; None if it is too long, too late or no head."""
        before_s = time.monotonic() + HEAD_SECONDS_MAX
        head = b""
        while b"\r\n\r\n" not in head:
            left_s = before_s - time.monotonic()
            if left_s <= 0 or len(head) > HEAD_BYTES_MAX:
                return None
            connection.settimeout(left_s)
            try:
                received = connection.recv(HEAD_BYTES_MAX)
            except OSError:
                return None
            if not received:
                return None
            head += received
        connection.settimeout(ANSWER_SECONDS_MAX)
        return head

    def finish(self) -> None:
        self.server.free.release()
