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
from typing import Final

from kraftctl.config.operate_config import CONNECTIONS_MAX
from kraftctl.controller.results.failures import reason_of
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

logger = logging.getLogger("kraftctl.server.operate")

HEAD_BYTES_MAX: Final = 8 * 1024
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


Respond = Callable[[HttpRequest], Awaitable[HttpResponse]]


class HttpListener:
    """Serves from `start` to `stop` on these bound sockets; each has an SSL context or None."""

    def __init__(self, sockets: list[tuple[socket.socket, ssl.SSLContext | None]], respond: Respond) -> None:
        self._sockets = sockets
        self._respond = respond
        self._connections: dict[asyncio.Task[None], None] = {}
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
            except Exception as error:  # noqa: BLE001 - a full table of files, or a defect
                self._failures.warning(
                    "A connection for probes and metrics is not accepted: %s. Next step: raise the limit of"
                    " open files (ulimit -n, LimitNOFILE) if it says so; the next connections are tried",
                    reason_of(error),
                )
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if len(self._connections) >= CONNECTIONS_MAX:
                next(iter(self._connections)).cancel()
            task = self._loop.create_task(self._serve(accepted, context))
            self._connections[task] = None
            task.add_done_callback(self._connections.pop)

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
                request = _parsed(await reader.readuntil(b"\r\n\r\n"))
                response = BAD_REQUEST if request is None else await self._response(request)
                is_head = request is not None and request.method == "HEAD"
                writer.write(_encoded(response, has_body=not is_head))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # TimeoutError and SSLError are of OSError: the client does not read, or speaks nothing
        finally:
            if transport is None:
                accepted.close()
            else:
                transport.abort()

    async def _response(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return HttpResponse(405, TEXT, b"GET and HEAD only\n", "Allow: GET, HEAD")
        try:
            return await self._respond(request)
        except Exception as error:  # noqa: BLE001 - a defect in a page must not end the others
            self._failures.warning("GET %s failed: %s", request.path, reason_of(error))
            return HttpResponse(500, TEXT, b"see the log of the controller\n")


BAD_REQUEST: Final = HttpResponse(400, TEXT, b"not a request of HTTP/1\n")


def _parsed(head: bytes) -> HttpRequest | None:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return None
    authorization = ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() == "authorization":
            authorization = value.strip()
    return HttpRequest(parts[0], parts[1].partition("?")[0], authorization)


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
