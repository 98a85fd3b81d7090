"""A real SocketServer with a handler that tests can hold back, and a client that can misbehave."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvloop

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.request_outcomes import Close
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.loop.client_requests import RequestHandler, Respond
from kraftctl.server.loop.request_turns import RequestTurns
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import RequestHead, decode_response, encode_request
from tests.support.controller_properties import controller_properties

TIMEOUT_SECONDS = 20.0

UNREGISTER_BROKER = int(ApiKey.UNREGISTER_BROKER)

PROPERTIES = controller_properties(
    "unused", node_id=1, address="127.0.0.1:0", more={"controller.quorum.bootstrap.servers": "127.0.0.1:9093"}
)


class Handler(RequestHandler):
    """Answers immediately, or keeps requests until `release`; records the requests it gets."""

    def __init__(self) -> None:
        self.holding = False
        self.refusing = False
        self.voter_ids: set[int] = set()
        self.denied_api_keys: set[int] = set()
        self.contexts: list[RequestContext] = []
        self.requests: list[Message] = []
        self.held: dict[int, Callable[[], None]] = {}
        self.cancelled: list[int] = []
        self.changed = asyncio.Event()
        self.answer: Callable[[Message], Message] = answer
        self.decoded_bytes = 0
        scheduler: Any = asyncio.get_running_loop()
        self.turns = RequestTurns(time.monotonic_ns, scheduler, self, lambda: False)

    def submit(
        self,
        context: RequestContext,
        content: Message | RequestHead,
        respond: Respond,
        decoded_bytes: int = 0,
    ) -> int:
        request = content if isinstance(content, Message) else content.decode_body()
        request_id = len(self.requests)
        self.contexts.append(context)
        self.requests.append(request)
        self.changed.set()
        response = Close() if self.refusing else self.answer(request)
        if self.holding:
            self.held[request_id] = lambda: respond(response)
        else:
            respond(response)
        return request_id

    def cancel(self, request_id: int) -> None:
        self.held.pop(request_id, None)
        self.cancelled.append(request_id)
        self.changed.set()

    def lacks_right(self, context: RequestContext) -> bool:
        return context.api_key in self.denied_api_keys

    def is_voter(self, replica_id: int) -> bool:
        return replica_id in self.voter_ids

    def release(self) -> None:
        """Answer the oldest held request."""
        self.held.pop(min(self.held))()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until `condition` is true; it is checked after each change here."""
        while not condition():
            self.changed.clear()
            await self.changed.wait()


def answer(request: Message) -> Message:
    if isinstance(request, ApiVersionsRequest):
        versions = ApiVersion(api_key=int(ApiKey.API_VERSIONS), min_version=0, max_version=4)
        return ApiVersionsResponse(api_keys=[versions])
    assert isinstance(request, UnregisterBrokerRequest)
    return UnregisterBrokerResponse(throttle_time_ms=request.broker_id)


class Client:
    """The other end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    def request(self, body: Message, version: int, correlation_id: int = 7) -> None:
        self.send(encode_frame(request_bytes(body, version, correlation_id)))

    async def frame(self) -> bytes:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return await self.reader.readexactly(size)

    async def expect_closed(self) -> None:
        """The other side closes without sending more."""
        try:
            assert await self.reader.read() == b""
        except ConnectionResetError:
            pass

    async def expect_ended(self) -> None:
        """The other side closes, maybe after it has sent something."""
        try:
            await self.reader.read()
        except ConnectionResetError:
            pass

    def close(self) -> None:
        self.writer.close()


def request_bytes(body: Message, version: int, correlation_id: int = 7) -> bytes:
    header = RequestHeader(
        request_api_key=body.API_KEY,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id="client",
    )
    return encode_request(header, body)


def unregister(broker_id: int) -> UnregisterBrokerRequest:
    """A request whose answer repeats `broker_id`, to distinguish answers."""
    return UnregisterBrokerRequest(broker_id=broker_id)


@asynccontextmanager
async def serving(
    properties: dict[str, str] | None = None, handler: Handler | None = None
) -> AsyncIterator[tuple[SocketServer, Handler]]:
    handler = handler or Handler()
    server = SocketServer(ControllerConfig({**PROPERTIES, **(properties or {})}))
    await server.bind()
    await server.accept(handler)
    try:
        yield server, handler
    finally:
        await server.stop()


async def expect_served(client: Client, broker_id: int = 5) -> None:
    client.request(unregister(broker_id), 0, correlation_id=42)
    assert decode_response(await client.frame(), UNREGISTER_BROKER, 0)[0] == 42


async def connect(server: SocketServer) -> Client:
    return Client(*await asyncio.open_connection("127.0.0.1", server.bound_ports["CONTROLLER"]))


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait for another task of this loop."""
    while not condition():
        await asyncio.sleep(0.001)


def run(test: Callable[[], Awaitable[None]], loop: str = "uvloop") -> None:
    """Run a test on the loop that production uses, or on asyncio's own, within a time limit."""

    async def limited() -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await test()

    factory = uvloop.new_event_loop if loop == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(limited())


both_loops = pytest.mark.both_loops
