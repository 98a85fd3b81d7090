"""Serves HTTP on a thread with a loop of its own, so that a stuck controller is seen.

GET and HEAD only, one request for each connection. Heads, connections and times are bounded; at the limit the
oldest connection is closed, so that a probe always gets in.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from kraftctl.config.operate_config import CONNECTIONS_MAX
from kraftctl.controller.results.failures import reason_of
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

logger = logging.getLogger("kraftctl.server.operate")

HEAD_BYTES_MAX: Final = 8 * 1024
DROPPED_BYTES_MAX: Final = 1024 * 1024
DROP_SECONDS_MAX: Final = 1.0
"""What is left of a request is read for so long: a close before that may take the response back."""

REQUEST_SECONDS_MAX: Final = 10.0
"""The time of a connection from its acceptance to the last byte of its response: Prometheus's default."""

BACKLOG: Final = 128
"""A probe must not wait for a second SYN beside clients that connect and say nothing."""
RETRY_SECONDS: Final = 1.0
STOP_SECONDS_MAX: Final = 2.0

JSON: Final = "application/json"
TEXT: Final = "text/plain; charset=utf-8"

STATUS_TEXTS: Final = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True)
class HttpResponse:
    """A response; `body` is UTF-8."""

    status: int
    content_type: str
    body: bytes
    header: str = ""
    """A further header, without the end of its line."""


@dataclass(frozen=True)
class HttpRequest:
    """The path of a request, without its query, and the value of its Authorization header."""

    method: str
    path: str
    authorization: str
    has_body: bool = False


Respond = Callable[[HttpRequest], Awaitable[HttpResponse]]


class HttpListener:
    """Serves from `start` to `stop` on these bound sockets; each has an SSL context or None."""

    def __init__(self, sockets: list[tuple[socket.socket, ssl.SSLContext | None]], respond: Respond) -> None:
        self._sockets = sockets
        self._respond = respond
        self._connections: dict[asyncio.Task[None], None] = {}
        """Those that are served, the oldest first."""
        self._accepting: list[asyncio.Task[None]] = []
        self._loop = asyncio.new_event_loop()
        self._failures = RateLimitedLog(logger, self._loop.time, lines_max=1)
        self._thread = threading.Thread(target=self._run, name="operate", daemon=True)

    def start(self) -> None:
        for bound, _ in self._sockets:
            bound.listen(BACKLOG)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, and what it serves."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_SECONDS_MAX)

    def _run(self) -> None:
        loop = self._loop
        self._accepting = [loop.create_task(self._accept(*each)) for each in self._sockets]
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            for bound, _ in self._sockets:
                bound.close()
            loop.close()

    async def _accept(self, bound: socket.socket, context: ssl.SSLContext | None) -> None:
        while True:
            try:
                accepted, _ = await self._loop.sock_accept(bound)
                self._begin(accepted, context)
            except Exception as error:  # noqa: BLE001 - whatever it is, later probes must be answered
                self._failures.warning(
                    "A connection for probes and metrics is not accepted: %s. Next step: raise the limit of "
                    "open files if too many are open; report any other error that lasts",
                    reason_of(error),
                )
                await asyncio.sleep(RETRY_SECONDS)
            # With clients in the backlog, sock_accept does not wait, and nobody else would run.
            await asyncio.sleep(0)

    def _begin(self, accepted: socket.socket, context: ssl.SSLContext | None) -> None:
        """Serves one more connection, in place of the oldest one at the limit."""
        if len(self._connections) >= CONNECTIONS_MAX:
            oldest = next(iter(self._connections))
            del self._connections[oldest]
            oldest.cancel()
        task = self._loop.create_task(self._serve(accepted, context))
        self._connections[task] = None
        task.add_done_callback(partial(self._end, accepted))

    def _end(self, accepted: socket.socket, task: asyncio.Task[None]) -> None:
        self._connections.pop(task, None)
        accepted.close()  # a task that is cancelled before it begins closes nothing

    async def _serve(self, accepted: socket.socket, context: ssl.SSLContext | None) -> None:
        reader = asyncio.StreamReader(HEAD_BYTES_MAX)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport: asyncio.Transport | None = None
        try:
            async with asyncio.timeout(REQUEST_SECONDS_MAX):
                transport, _ = await self._loop.connect_accepted_socket(
                    lambda: protocol, accepted, ssl=context
                )
                writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
                await self._exchange(reader, writer)
                writer.close()
                await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass  # TimeoutError and SSLError are of OSError: the client does not read, or speaks nothing
        finally:
            if transport is not None:
                transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Responds to one request, and reads what is left of it."""
        request: HttpRequest | None = None
        try:
            request = _parsed(await reader.readuntil(b"\r\n\r\n"))
            response = BAD_REQUEST if request is None else await self._response(request)
        except asyncio.LimitOverrunError:
            response = LONG_HEAD
        is_head = request is not None and request.method == "HEAD"
        writer.write(_encoded(response, has_body=not is_head))
        await writer.drain()
        if request is None or request.has_body:
            if writer.can_write_eof():
                writer.write_eof()
            await _drop(reader)

    async def _response(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(405, TEXT, b"GET and HEAD only\n", "Allow: GET, HEAD")
        try:
            return await self._respond(request)
        except Exception as error:  # noqa: BLE001 - a defect in a page must not end the others
            self._failures.warning("GET %s failed: %s", request.path, reason_of(error))
            return HttpResponse(500, TEXT, b"see the log of the controller\n")


BAD_REQUEST: Final = HttpResponse(400, TEXT, b"not a request of HTTP/1\n")
LONG_HEAD: Final = HttpResponse(431, TEXT, f"a head has at most {HEAD_BYTES_MAX} bytes\n".encode())


async def _drop(reader: asyncio.StreamReader) -> None:
    """Reads to the end, or as far as the bounds let it."""
    dropped_bytes = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DROP_SECONDS_MAX):
            while dropped_bytes < DROPPED_BYTES_MAX and (part := await reader.read(HEAD_BYTES_MAX)):
                dropped_bytes += len(part)


def _parsed(head: bytes) -> HttpRequest | None:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return None
    authorization, has_body = "", False
    for line in lines:
        name, _, value = line.partition(":")
        match name.strip().lower():
            case "authorization":
                authorization = value.strip()
            case "content-length" | "transfer-encoding":
                has_body = has_body or value.strip() != "0"
    return HttpRequest(parts[0], _path(parts[1]), authorization, has_body)


def _path(target: str) -> str:
    """Returns the path of `/metrics?query`, or of the absolute form that proxies send: `http://host/metrics`."""
    path = target.partition("?")[0]
    if path.lower().startswith(("http://", "https://")):
        _, slash, rest = path.partition("://")[2].partition("/")
        return slash + rest or "/"
    return path


def _encoded(response: HttpResponse, *, has_body: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {response.status} {STATUS_TEXTS[response.status]}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    ]
    if response.header:
        lines.append(response.header)
    head = "\r\n".join([*lines, "", ""]).encode()
    return head + response.body if has_body else head
