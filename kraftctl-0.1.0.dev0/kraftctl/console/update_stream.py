"""Server-sent events: each announces a new picture. Clients, and the time to send to one, are bounded."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

CLIENTS_MAX: Final = 32
SEND_SECONDS_MAX: Final = 5.0
"""A client that takes no bytes for this long is dropped."""
SILENCE_SECONDS: Final = 15.0
"""After this time without a picture the number is repeated, so that proxies keep the connection open."""

HEADERS: Final = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]


class UpdateStream:
    """The clients that wait for pictures. Everything runs on the event loop."""

    def __init__(self) -> None:
        self._clients: set[asyncio.Event] = set()
        self._number = 0
        self._has_ended = False

    def announce(self, number: int) -> None:
        """Announces a picture to all clients."""
        self._number = number
        for client in self._clients:
            client.set()

    def end(self) -> None:
        """Ends the responses of all clients: the server stops."""
        self._has_ended = True
        for client in self._clients:
            client.set()

    async def respond(self, _: Request) -> Response:
        """Returns a response that lasts until the client closes it, or one that refuses the client."""
        if len(self._clients) >= CLIENTS_MAX:
            return PlainTextResponse("too many pages are open\n", 503)
        return _Stream(self)

    async def send_to(self, receive: Receive, send: Send) -> None:
        """Sends to one client until it closes the connection or takes nothing."""
        client = asyncio.Event()
        self._clients.add(client)
        closed = asyncio.ensure_future(_await_close(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            while not closed.done() and not self._has_ended:
                client.clear()
                text = f"data: {self._number}\n\n".encode()
                async with asyncio.timeout(SEND_SECONDS_MAX):
                    await send({"type": "http.response.body", "body": text, "more_body": True})
                waiting = asyncio.ensure_future(client.wait())
                await asyncio.wait(
                    (waiting, closed), timeout=SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                waiting.cancel()
            if not closed.done():
                async with asyncio.timeout(SEND_SECONDS_MAX):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            pass  # the response ends here, and the server closes the connection
        finally:
            closed.cancel()
            self._clients.discard(client)


class _Stream(Response):
    def __init__(self, stream: UpdateStream) -> None:
        super().__init__()
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._stream.send_to(receive, send)


async def _await_close(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
