"""This node's requests to other controllers, over connections that are opened when first needed (KIP-595).

The node decides what a request says, where it goes and when it is retried. Here it is sent in the highest
version that both sides know, and reported as `ResponseReceived` exactly once: with None when there was no
answer in time, or there will be none; as refused when no process listens there.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Callable
from typing import Final

from kraftctl import __version__
from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.controller.failures import reason_of
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.server.connecting import HandshakeError, RefusedError, connect
from kraftctl_protocol.frames import FRAME_BYTES_MAX_DEFAULT, SIZE_PREFIX_BYTES, encode_frame
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.peer_versions import unsupported

logger = logging.getLogger("kraftctl.server.peers")

SOFTWARE: Final = "kraftctl", __version__

WAITING_MAX: Final = 64
"""Requests to one address that were not sent yet; the node has only a few in flight at a time."""

RECONNECT_BACKOFF_SECONDS_MAX: Final = 0.5

Failure = (OSError, EOFError, TimeoutError, UnicodeError, DecodeError)
"""How an exchange with a peer fails; the connection cannot be used afterwards."""


class Peers:
    """All other controllers. `offer` gets the answers; with an `ssl_context`, SSL is used."""

    def __init__(
        self,
        *,
        client_id: str,
        request_timeout_ms: int,
        backoff_ms: int,
        offer: Callable[[ResponseReceived], None],
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self.client_id = client_id
        self.request_timeout_seconds = request_timeout_ms / 1000
        self.backoff_seconds = backoff_ms / 1000
        self.offer = offer
        self.ssl_context = ssl_context
        self._destinations: dict[tuple[str, int, bool], Destination] = {}

    def send(self, effect: SendRequest) -> None:
        """Over one connection per address and kind of request.

        A request that waits for a commit must not delay the Fetch that commits it.
        """
        key = (effect.host, effect.port, effect.api_key in RAFT_API_KEYS)
        destination = self._destinations.get(key)
        if destination is None:
            destination = Destination(self, effect.host, effect.port)
            self._destinations[key] = destination
        destination.send(effect)

    async def stop(self) -> None:
        """Close everything; no answers are reported any more."""
        workers = [worker for peer in self._destinations.values() if (worker := peer.stop()) is not None]
        await asyncio.gather(*workers, return_exceptions=True)


class Waiting:
    """A request and its deadline (loop time)."""

    def __init__(self, effect: SendRequest, deadline: float) -> None:
        self.effect = effect
        self.deadline = deadline


class Destination:
    """At most one connection: requests are sent one after the other, as controllers answer them in order."""

    def __init__(self, peers: Peers, host: str, port: int) -> None:
        self._peers = peers
        self._host = host
        self._port = port
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._connection: PeerConnection | None = None
        self._failures = 0
        self._connect_at = 0.0

    def send(self, effect: SendRequest) -> None:
        self._waiting.append(Waiting(effect, self._loop.time() + self._peers.request_timeout_seconds))
        if len(self._waiting) > WAITING_MAX:
            self._peers.offer(ResponseReceived(self._waiting.popleft().effect.send_id, None))
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._work())

    def stop(self) -> asyncio.Task[None] | None:
        self._waiting.clear()
        if self._worker is not None:
            self._worker.cancel()
        self._disconnect()
        return self._worker

    async def _work(self) -> None:
        while self._waiting:
            self._peers.offer(await self._exchange(self._waiting.popleft()))
        self._worker = None

    async def _exchange(self, waiting: Waiting) -> ResponseReceived:
        send_id = waiting.effect.send_id
        if not await self._may_connect_before(waiting.deadline):
            return ResponseReceived(send_id, None)
        try:
            async with asyncio.timeout_at(waiting.deadline):
                connection = await self._connected()
                response = await connection.call_in_common_version(waiting.effect.request)
        except Failure as error:
            self._failed(error)
            return ResponseReceived(send_id, None, refused=isinstance(error, RefusedError))
        except Exception as error:  # noqa: BLE001 - otherwise nothing would be sent to this address again
            logger.error("Request to %s:%d failed: %s", self._host, self._port, reason_of(error))
            self._failed(error)
            return ResponseReceived(send_id, None)
        self._failures = 0
        return ResponseReceived(send_id, response)

    async def _may_connect_before(self, deadline: float) -> bool:
        """Wait until the backoff is over, or until `deadline`.

        A request that only waited is no failed connection: it must not prolong the backoff of the next one.
        """
        if self._is_connected():
            return True
        await asyncio.sleep(min(self._connect_at, deadline) - self._loop.time())
        return self._connect_at < deadline

    def _is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_open()

    async def _connected(self) -> PeerConnection:
        if self._connection is not None and self._connection.is_open():
            return self._connection
        self._disconnect()
        reader, writer = await connect(self._host, self._port, self._peers.ssl_context)
        self._connection = PeerConnection(self._peers.client_id, reader, writer)
        try:
            await self._connection.learn_versions()
        except (ConnectionError, EOFError) as error:
            # A process that ends accepts no connection, or closes it; so does a proxy in front of it.
            raise RefusedError("closed before an answer") from error
        return self._connection

    def _failed(self, error: Exception) -> None:
        if self._failures == 0:
            reason = str(error) or type(error).__name__
            level = logging.WARNING if isinstance(error, HandshakeError | ssl.SSLError) else logging.INFO
            message = "Connection to the controller at %s:%d failed: %s"
            logger.log(level, message, self._host, self._port, reason)
        backoff = self._peers.backoff_seconds * 2.0 ** min(self._failures, 10)
        self._failures += 1
        self._connect_at = self._loop.time() + min(backoff, RECONNECT_BACKOFF_SECONDS_MAX)
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PeerConnection:
    """An open connection to a peer that has reported its API versions."""

    def __init__(self, client_id: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._codec = PeerCodec(client_id, SOFTWARE)

    def is_open(self) -> bool:
        """As far as this side knows."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        self._writer.transport.abort()

    async def learn_versions(self) -> None:
        """Ask which requests the peer understands (KIP-511)."""
        self._codec.decode_versions(await self._exchange(self._codec.encode_versions_request()))

    async def call_in_common_version(self, request: Message) -> Message:
        """The answer; UNSUPPORTED_VERSION, as if from the peer, when it does not know the request."""
        payload = self._codec.encode(request)
        if payload is None:
            return unsupported(request.API_KEY)
        return self._codec.decode(await self._exchange(payload))

    async def _exchange(self, payload: bytes) -> bytes:
        self._writer.write(encode_frame(payload))
        size = int.from_bytes(await self._reader.readexactly(SIZE_PREFIX_BYTES), "big", signed=True)
        if not 0 <= size <= FRAME_BYTES_MAX_DEFAULT:
            raise DecodeError(f"a response of {size} bytes")
        return await self._reader.readexactly(size)
