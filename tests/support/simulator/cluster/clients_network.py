"""The connections of model brokers and admins to controllers, with the real codecs both ways."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from kraftctl.apis.api_table import API_TABLE
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.simulator.cluster.users import principal_of
from tests.support.simulator.cluster.wire import Exchange, Server, Wire

CALL_TIMEOUT_US = 2_900_000
"""From the call to its response. Clients wait longer, before they try again."""

MessageAnswered = Callable[[Message | None], None]


class Channel:
    """One connection of a client to a controller: requests are answered in order, one at a time."""

    def __init__(self, wire: Wire, client: str, server: Server) -> None:
        self._wire = wire
        self._client = client
        self._server = server
        self._waiting: deque[tuple[Message, int, MessageAnswered, int]] = deque()
        self._busy = False
        self._exchange: Exchange | None = None
        self._current: MessageAnswered | None = None
        self._correlation_id = 0

    def call(self, request: Message, version: int, answered: MessageAnswered) -> None:
        self._waiting.append((request, version, answered, self._wire.time.now_us + CALL_TIMEOUT_US))
        if not self._busy:
            self._next()

    def close(self) -> None:
        """The client has ended: calls that are still out are answered with None."""
        if self._exchange is not None:
            self._exchange.abandon()
        current, self._current = self._current, None
        unanswered = [answered for _, _, answered, _ in self._waiting]
        self._waiting.clear()
        for answered in unanswered if current is None else [current, *unanswered]:
            self._wire.time.call_after(0, partial(answered, None))

    def _next(self) -> None:
        if not self._waiting:
            self._busy = False
            return
        self._busy = True
        request, version, answered, deadline_us = self._waiting.popleft()
        timeout_us = deadline_us - self._wire.time.now_us
        if timeout_us <= 0:
            # What a client has given up is never sent.
            answered(None)
            self._next()
            return
        self._correlation_id += 1
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=self._client,
        )
        payload = encode_request(header, request)

        def finished(answer: bytes | None) -> None:
            self._exchange = self._current = None
            answered(None if answer is None else decode_response(answer, request.API_KEY, version)[1])
            self._next()

        self._current = answered
        self._exchange = Exchange(
            self._wire,
            self._client,
            self._server,
            payload,
            timeout_us,
            finished,
            principal=principal_of(self._client),
        )


class ClientNetwork:
    """All clients. `call` is what a client does; a channel is a connection of its own."""

    def __init__(self, wire: Wire, servers: dict[int, Server]) -> None:
        self._wire = wire
        self._servers = servers
        self._channels: dict[tuple[str, int, str], Channel] = {}

    def call(
        self,
        client: str,
        node_id: int,
        request: Message,
        answered: MessageAnswered,
        *,
        channel: str = "",
        version: int | None = None,
    ) -> None:
        """In the highest version that both sides know, unless `version` says which."""
        key = (client, node_id, channel)
        found = self._channels.get(key)
        if found is None:
            found = self._channels[key] = Channel(self._wire, client, self._servers[node_id])
        if version is None:
            version = min(request.HIGHEST_VERSION, API_TABLE[request.API_KEY].highest)
        found.call(request, version, answered)

    @property
    def may_duplicate(self) -> bool:
        """See Network."""
        return self._wire.faults.duplicates > 0

    def disconnect(self, client: str) -> None:
        """The process of the client has ended: all its connections close."""
        for key in [key for key in self._channels if key[0] == client]:
            self._channels.pop(key).close()
