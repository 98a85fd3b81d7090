"""Runs the server of the console until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from kraftctl.cli.console.bound_socket import bound_socket
from kraftctl.cli.console.key_pair import check_pair
from kraftctl.cli.console.listen_address import HTTPS, ListenAddress
from kraftctl.console.access import Guard
from kraftctl.console.application import ConsoleApplication
from kraftctl.console.live_log import LiveLog
from kraftctl.console.page_drawing import PageDrawing
from kraftctl.console.painter import Painter

CONNECTIONS_MAX: Final = 128
HEAD_BYTES_MAX: Final = 16 * 1024
KEEP_ALIVE_SECONDS: Final = 10
SILENT_SECONDS_MAX: Final = 10.0
"""A connection may be without a whole request for twice this time at most."""
STOP_SECONDS: Final = 1


class BoundedConnection(H11Protocol):
    """A connection that is closed if it sends no whole request: others need its place."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._cycle_seen: object = None
        self._timer = self.loop.call_later(SILENT_SECONDS_MAX, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        is_idle = cycle is None or (cycle.response_complete and cycle is self._cycle_seen)
        if is_idle:
            self.transport.close()
            return
        self._cycle_seen = cycle
        self._timer = self.loop.call_later(SILENT_SECONDS_MAX, self._look)


class QuietServer(uvicorn.Server):
    """A server that ends after a signal, without the signal being raised again."""

    before_shutdown: Callable[[], None] | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends what would not end by itself first: uvicorn cancels it, with a traceback for each."""
        if self.before_shutdown is not None:
            self.before_shutdown()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


class ConsoleServer:
    """Serves one console at one address."""

    def __init__(
        self,
        live: LiveLog,
        painter: Painter,
        drawing: PageDrawing,
        *,
        address: ListenAddress,
        token: bytes,
        certificate: str | None,
        key: str | None,
    ) -> None:
        self._live = live
        self._painter = painter
        self._address = address
        self._pages = ConsoleApplication(painter, drawing)
        self._guard = guard = Guard(
            self._pages.application,
            token=token,
            is_loopback=address.is_loopback,
            is_https=address.scheme == HTTPS,
            login=drawing.page("login.html", is_wrong=False),
            wrong=drawing.page("login.html", is_wrong=True),
            host=address.host,
        )
        config = uvicorn.Config(
            guard,
            host=address.host,
            port=address.port,
            loop="asyncio",
            http=BoundedConnection,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",  # any client can cause warnings
            access_log=False,  # paths have tokens
            proxy_headers=False,
            server_header=False,
            limit_concurrency=CONNECTIONS_MAX,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
            h11_max_incomplete_event_size=HEAD_BYTES_MAX,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        self._server = QuietServer(config)
        self._server.before_shutdown = self._pages.end
        self._pair = certificate, key

    def stop(self) -> None:
        """Ends `run`, from any thread."""
        self._server.should_exit = True

    def run(self) -> None:
        """Serves until a signal. Raises AdminError when it cannot listen."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        certificate, key = self._pair
        if certificate is not None and key is not None:
            check_pair(Path(certificate), Path(key))
        self._server.config.load()
        bound = bound_socket(self._address)
        address = replace(self._address, port=bound.getsockname()[1])
        self._guard.port = address.port
        self._pages.begin()
        self._live.start()
        self._painter.start()
        print(f"{address} has the console, until Ctrl-C", file=sys.stderr, flush=True)
        try:
            await self._server.serve(sockets=[bound])
        finally:
            self._painter.stop()
            self._live.stop()
            bound.close()
