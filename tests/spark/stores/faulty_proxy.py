"""A proxy before an object store that fails, throttles, stalls or loses answers of chosen requests."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>"
INTERNAL = b"<Error><Code>InternalError</Code><Message>We failed.</Message></Error>"
CONFLICT = b"<Error><Code>ConditionalRequestConflict</Code><Message>Busy.</Message></Error>"

Fault = Callable[["_Handler"], None]


@dataclass
class Rule:
    """What happens to the first `times` requests of a method whose path contains a text."""

    method: str
    text: str
    fault: Fault
    times: int
    met: int = field(default=0)


def slow_down(handler: _Handler) -> None:
    handler.answer(503, SLOW_DOWN)


def internal_error(handler: _Handler) -> None:
    handler.answer(500, INTERNAL)


def conflict(handler: _Handler) -> None:
    handler.answer(409, CONFLICT)


def lost_request(handler: _Handler) -> None:
    """The server never sees it."""
    handler.close_connection = True


def lost_answer(handler: _Handler) -> None:
    """The server carries it out, and the connection ends before the answer."""
    handler.forward()
    handler.close_connection = True


def failed_afterwards(handler: _Handler) -> None:
    """The server carries it out, and a gateway before it says that it failed."""
    handler.forward()
    handler.answer(500, INTERNAL)


def repeated(handler: _Handler) -> None:
    """A gateway before the server repeats the request, and passes the second answer on."""
    handler.forward()
    status, headers, body = handler.forward()
    handler.answer(status, body, headers)


def silence(handler: _Handler) -> None:
    """The server carries it out, and the answer does not come while the proxy runs."""
    handler.forward()
    handler.proxy.closed.wait()
    handler.close_connection = True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def proxy(self) -> FaultyProxy:
        return self.server.proxy

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        self.body = self.rfile.read(length)
        fault = self.proxy.fault_of(self.command, self.path)
        if fault is not None:
            fault(self)
            return
        status, headers, body = self.forward()
        self.answer(status, body, headers)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _handle

    def forward(self) -> tuple[int, list[tuple[str, str]], bytes]:
        """As it came, with the header Host that is signed."""
        connection = http.client.HTTPConnection("127.0.0.1", self.proxy.target, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(self.body)
        found = connection.getresponse()
        answer = found.status, found.getheaders(), found.read()
        connection.close()
        return answer

    def answer(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        self.send_response_only(status)
        kept = ("connection", "transfer-encoding", "content-length")
        for name, value in headers or []:
            if name.lower() not in kept or (name.lower() == "content-length" and self.command == "HEAD"):
                self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()


class FaultyProxy:
    """Listens on a port of its own; `requests` has the method and path of all that came, in order.

    `otherwise` chooses a fault, or None, for requests that no rule is about.
    """

    def __init__(self, target: int, otherwise: Callable[[], Fault | None] = lambda: None) -> None:
        self.target = target
        self._otherwise = otherwise
        self.requests: list[tuple[str, str]] = []
        self.closed = threading.Event()
        self._rules: list[Rule] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.proxy = self
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def add(self, method: str, text: str, fault: Fault, times: int = 1) -> Rule:
        rule = Rule(method, text, fault, times)
        with self._lock:
            self._rules.append(rule)
        return rule

    def fault_of(self, method: str, path: str) -> Fault | None:
        with self._lock:
            self.requests.append((method, path))
            for rule in self._rules:
                if rule.method == method and rule.text in path and rule.met < rule.times:
                    rule.met += 1
                    return rule.fault
            return self._otherwise()

    def __enter__(self) -> FaultyProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
