"""Sends this node's requests to other controllers, over connections opened when first needed (KIP-595).

The node decides the content of a request, its destination and its retries. Here it is sent in the highest
version that both sides know, and reported as `ResponseReceived` exactly once: with None when there was no
response in time, or there will be none; as refused when no process listens there. A process that does not
accept the certificate or the password of this node is alive: that is not reported as refused.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.controller.results.failures import reason_of
from kraftctl.raft.effects import ANY_EPOCH, SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.peer_failures import NOTHING_CAME, PeerFailure
from kraftctl.server.peers.connecting import Race, RefusedError
from kraftctl.server.peers.peer_failure_reasons import failure_of
from kraftctl.server.peers.peer_metrics import PeerMetrics
from kraftctl.server.process.detached_calls import call_detached
from kraftctl.server.process.sockets_first import answered_before
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import SIZE_PREFIX_BYTES, encode_frame
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.host_addresses import (
    ATTEMPT_DELAY_SECONDS,
    NOT_AUTHENTICATED,
    SASL_SECONDS_MAX,
    Address,
    Failure,
)
from kraftctl_security.addresses.known_hosts import KnownHost, KnownHosts
from kraftctl_security.authentication_failures import (
    KEYS_OF_DATES,
    SECURITY_PROTOCOL,
    AuthenticationFailedError,
    refuse_ssl_alert,
)
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.peer_versions import unsupported
from kraftctl_security.sasl.client_exchange import SASL_MECHANISM, ClientExchange
from kraftctl_security.sasl.mechanism import NewSaslClient
from kraftctl_security.tls.shown_certificate import with_certificate

logger = logging.getLogger("kraftctl.server.peers")


WAITING_MAX: Final = 64
"""The number of unsent requests to one address; the node has only a few in flight at a time."""

DESTINATIONS_MAX: Final = 64
"""The number of addresses with a connection or a backoff: two for each of 32 controllers. Controllers
may change theirs."""

RECONNECT_BACKOFF_SECONDS_MAX: Final = 0.5

USELESS_SECONDS: Final = 1.0
"""A bootstrap server may know no leader for this long before another address of its name is tried."""

WARNING_SECONDS: Final = 60.0
"""The interval of lines about a peer that does not accept this node, or the reverse."""

CONTROLLER_KEYS: Final = {
    SASL_MECHANISM: "sasl.mechanism.controller.protocol",
    SECURITY_PROTOCOL: "listener.security.protocol.map",
}
"""The keys of clients that have other names between controllers."""

ExchangeFailure: Final = (
    OSError,
    EOFError,
    TimeoutError,
    UnicodeError,
    DecodeError,
    AuthenticationFailedError,
)
"""The exceptions of an exchange with a peer; the connection cannot be used afterwards."""


class PeerConnections:
    """Connects to all other controllers. `offer` gets the responses.

    With an `ssl_context`, SSL is used; with `new_sasl_client`, SASL: it may wait, other threads call it.
    """

    def __init__(
        self,
        *,
        client_id: str,
        request_timeout_ms: int,
        backoff_ms: int,
        offer: Callable[[ResponseReceived], None],
        ssl_context: ssl.SSLContext | None = None,
        new_sasl_client: NewSaslClient | None = None,
        is_own: Callable[[str, int], bool] = lambda _host, _port: False,
        epoch: Callable[[], int] = lambda: ANY_EPOCH,
    ) -> None:
        """Takes `is_own`, which says whether this process listens at an address, and the present epoch."""
        self.client_id = client_id
        self.request_timeout_seconds = request_timeout_ms / 1000
        self.backoff_seconds = backoff_ms / 1000
        self.offer = offer
        self.ssl_context = ssl_context
        self.new_sasl_client = new_sasl_client
        self.is_own = is_own
        self.epoch = epoch
        self.hosts = KnownHosts()
        self.metrics = PeerMetrics()
        self._destinations: dict[tuple[str, int, bool], Destination] = {}
        """The destinations by host, port and kind of request, least recently used first."""

    def send(self, effect: SendRequest) -> None:
        """Sends a request over one connection per address and kind of request.

        A request that waits for a commit must not delay the Fetch that commits it.
        """
        key = (effect.host, effect.port, effect.api_key in RAFT_API_KEYS)
        destination = self._destinations.pop(key, None)
        if destination is None:
            self._make_room()
            destination = Destination(self, effect.host, effect.port)
        self._destinations[key] = destination
        destination.send(effect)

    def _make_room(self) -> None:
        """Forgets addresses that were not used for longest; never one that has a request under way."""
        for key, destination in list(self._destinations.items()):
            if len(self._destinations) < DESTINATIONS_MAX:
                return
            if destination.is_idle():
                destination.stop()
                del self._destinations[key]

    async def stop(self) -> None:
        """Closes everything; no responses are reported any more."""
        workers = [worker for peer in self._destinations.values() if (worker := peer.stop()) is not None]
        await asyncio.gather(*workers, return_exceptions=True)


class Waiting:
    """A request and its deadline (loop time)."""

    def __init__(self, effect: SendRequest, deadline: float) -> None:
        self.effect = effect
        self.deadline = deadline


class Destination:
    """One address with at most one connection: requests are sent one after the other, as controllers
    respond in order.
    """

    def __init__(self, peers: PeerConnections, host: str, port: int) -> None:
        self._peers = peers
        self._host = host
        self._port = port
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Waiting] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._known: KnownHost = peers.hosts.host(host, port)
        self._connection: PeerConnection | None = None
        self._failures = 0
        self._failure: PeerFailure = NOTHING_CAME
        """The last failure: requests that wait for a connection have no other."""
        self._connect_at = 0.0
        self._warned_at: float | None = None
        """The time of a line about failed authentication since the last response."""
        self._warning: asyncio.Task[None] | None = None

    def send(self, effect: SendRequest) -> None:
        self._waiting.append(Waiting(effect, self._loop.time() + self._peers.request_timeout_seconds))
        if len(self._waiting) > WAITING_MAX:
            self._peers.offer(ResponseReceived(self._waiting.popleft().effect.send_id, None))
        if self._worker is None:
            self._worker = asyncio.ensure_future(self._work())

    def is_idle(self) -> bool:
        """Returns whether no request is waiting or under way."""
        return self._worker is None

    def stop(self) -> asyncio.Task[None] | None:
        self._waiting.clear()
        if self._warning is not None:
            self._warning.cancel()
        if self._worker is not None:
            self._worker.cancel()
        self._disconnect()
        return self._worker

    async def _work(self) -> None:
        while self._waiting:
            self._peers.offer(self._with_reason(await self._exchange(self._waiting.popleft())))
        self._worker = None

    def _with_reason(self, event: ResponseReceived) -> ResponseReceived:
        """Returns the result with the reason why there is no response, if there is none."""
        if event.response is not None:
            self._failure = NOTHING_CAME
            return event
        return ResponseReceived(event.send_id, None, refused=event.refused, failure=self._failure)

    async def _exchange(self, waiting: Waiting) -> ResponseReceived:
        send_id = waiting.effect.send_id
        if not await self._may_connect_before(waiting.deadline):
            return ResponseReceived(send_id, None)
        try:
            async with answered_before(self._loop, waiting.deadline):
                connection = await self._connected()
                if waiting.effect.is_outdated(self._peers.epoch()):
                    return ResponseReceived(send_id, None)
                response = await connection.call_in_common_version(waiting.effect.request)
        except ExchangeFailure as error:
            self._failed(error)
            return ResponseReceived(send_id, None, refused=isinstance(error, RefusedError))
        except Exception as error:  # noqa: BLE001 - otherwise nothing would be sent to this address again
            logger.error("Request to %s:%d failed: %s", self._host, self._port, reason_of(error))
            self._failed(error)
            return ResponseReceived(send_id, None)
        self._failures = 0
        self._warned_at = None
        connection.has_served = True
        self._known.addresses.served(connection.address)
        if waiting.effect.destination_id < 0 and knows_no_leader(response):
            self._try_another_address(connection)
        return ResponseReceived(send_id, response)

    def _try_another_address(self, connection: PeerConnection) -> None:
        """Tries another address: the name of a bootstrap server may be that of all controllers, one of
        which knows the leader.
        """
        now = self._loop.time()
        if len(self._known.addresses.to_try()) > 1 and now >= connection.opened_at + USELESS_SECONDS:
            failure = Failure("it knows no leader", ATTEMPT_DELAY_SECONDS, now)
            self._known.addresses.failed(connection.address, failure)
            self._disconnect()

    async def _may_connect_before(self, deadline: float) -> bool:
        """Waits until the backoff is over, or until `deadline`; returns whether the backoff is over.

        A request that only waited is not a failed connection: it must not prolong the backoff of the next
        one.
        """
        if self._is_connected():
            return True
        await asyncio.sleep(min(self._connect_at, deadline) - self._loop.time())
        return self._connect_at < deadline

    def _is_connected(self) -> bool:
        return self._connection is not None and self._connection.is_open()

    async def _connected(self) -> PeerConnection:
        """Returns a connection that is open and authenticated."""
        new_sasl_client = self._peers.new_sasl_client
        if self._connection is not None and self._connection.is_open():
            if new_sasl_client is not None and self._connection.is_to_be_renewed():
                await self._connection.authenticate(new_sasl_client)
            return self._connection
        self._disconnect()
        while not await self._begin(new_sasl_client):
            self._disconnect()
        assert self._connection is not None
        return self._connection

    async def _begin(self, new_sasl_client: NewSaslClient | None) -> bool:
        """Opens a connection. Returns False when SASL takes so long that another address should be tried
        first.
        """
        self._known = self._peers.hosts.host(self._host, self._port)
        self._connection = connection = await Race(
            self._known, self._greet, context=self._peers.ssl_context, is_own=self._peers.is_own
        ).run()
        if new_sasl_client is None:
            return True
        has_alternative = self._known.addresses.has_alternative(connection.address)
        limit = asyncio.timeout(SASL_SECONDS_MAX if has_alternative else None)
        try:
            async with limit:
                await connection.authenticate(new_sasl_client)
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._note(error, SASL_SECONDS_MAX)
            return False
        return True

    async def _greet(
        self, address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> PeerConnection:
        connection = PeerConnection(self._peers.client_id, address, reader, writer, self._peers.metrics)
        await connection.learn_versions()
        return connection

    def _note(self, error: Exception, seconds: float) -> str:
        """Notes the failure. Silence counts against the address, and so does everything before the first
        response.
        """
        connection = self._connection
        if connection is None:
            return str(error) or self._known.reasons() or type(error).__name__
        is_silent = isinstance(error, TimeoutError)
        reason = f"{connection.missing} within {seconds:.1f} s" if is_silent else ""
        reason = reason or str(error) or type(error).__name__
        if is_silent or not connection.has_served:
            failure = Failure(reason, seconds if is_silent else 0.0, self._loop.time())
            self._known.addresses.failed(connection.address, failure)
        return reason

    def _failed(self, error: Exception) -> None:
        reason = self._note(error, self._peers.request_timeout_seconds)
        self._failure = failure_of(error, reason)
        if isinstance(error, AuthenticationFailedError):
            self._warn(error)
        elif self._failures == 0:
            logger.info("Connection to the controller at %s:%d failed: %s", self._host, self._port, reason)
        backoff = self._peers.backoff_seconds * 2.0 ** min(self._failures, 10)
        self._failures += 1
        self._connect_at = self._loop.time() + min(backoff, RECONNECT_BACKOFF_SECONDS_MAX)
        self._disconnect()

    def _warn(self, error: AuthenticationFailedError) -> None:
        now = self._loop.time()
        if self._warned_at is not None and now < self._warned_at + WARNING_SECONDS:
            return
        self._warned_at = now
        if error.keys in KEYS_OF_DATES.values():
            self._warning = asyncio.ensure_future(self._warn_of_dates(error))
        else:
            self._say(error)

    async def _warn_of_dates(self, error: AuthenticationFailedError) -> None:
        """Warns of a certificate's dates once it is known which certificate it is."""
        self._say(await call_detached(partial(with_certificate, error, self._host, self._port)))

    def _say(self, error: AuthenticationFailedError) -> None:
        logger.warning(
            "This node and the controller at %s:%d do not accept each other: %s. Next step: check %s of the"
            " listener by which controllers reach each other, here and there",
            self._host,
            self._port,
            error,
            CONTROLLER_KEYS.get(error.keys, error.keys),
        )

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PeerConnection:
    """An open connection to a peer that has reported its API versions."""

    def __init__(
        self,
        client_id: str,
        address: Address,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        metrics: PeerMetrics,
    ) -> None:
        self.address = address
        self.has_served = False
        """Whether a request has had a response: if the connection ends later, that is not counted
        against the address."""
        self.missing = ""
        """The step that has not finished yet."""
        self.opened_at = asyncio.get_running_loop().time()
        self._reader = reader
        self._writer = writer
        self._codec = PeerCodec(client_id, SOFTWARE)
        self._metrics = metrics
        metrics.connections_count += 1
        self._loop = asyncio.get_running_loop()
        self._renew_at: float | None = None

    def is_open(self) -> bool:
        """Whether it is open as far as this side knows."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        """Closes immediately, without waiting for unsent data."""
        self._writer.transport.abort()

    async def learn_versions(self) -> None:
        """Asks which requests the peer understands (KIP-511)."""
        self._codec.decode_versions(await self._exchange(self._codec.encode_versions_request()))

    async def authenticate(self, new_client: NewSaslClient) -> None:
        """Authenticates by SASL: after the versions are known, and again before the session expires
        (KIP-368).

        Raises AuthenticationFailedError.
        """
        self.missing = NOT_AUTHENTICATED
        exchange = ClientExchange(self._codec, new_client)
        answer: bytes | None = None
        # Hashes take milliseconds, and a token server may take seconds: the loop must not wait for either.
        while (payload := await call_detached(partial(exchange.advance, answer))) is not None:
            answer = await self._exchange(payload)
        renewed_after_seconds = exchange.renewed_after_seconds
        self._renew_at = None if renewed_after_seconds is None else self._loop.time() + renewed_after_seconds

    def is_to_be_renewed(self) -> bool:
        """Returns whether the next request has to wait until this side has authenticated again."""
        return self._renew_at is not None and self._loop.time() >= self._renew_at

    async def call_in_common_version(self, request: Message) -> Message:
        """Returns the response; UNSUPPORTED_VERSION, as if from the peer, when it does not know the
        request.
        """
        self.missing = f"{request.NAME} was not answered"
        payload = self._codec.encode(request)
        if payload is None:
            return unsupported(request.API_KEY)
        return self._codec.decode(await self._exchange(payload))

    async def _exchange(self, payload: bytes) -> bytes:
        sent_at = self._loop.time()
        self._writer.write(encode_frame(payload))
        self._metrics.sent(SIZE_PREFIX_BYTES + len(payload))
        prefix = await self._reader.readexactly(SIZE_PREFIX_BYTES)
        size = int.from_bytes(prefix, "big", signed=True)
        if size > self._codec.response_bytes_max:
            refuse_ssl_alert(prefix)
        self._codec.check_size(size)
        response = await self._reader.readexactly(size)
        self._metrics.received(SIZE_PREFIX_BYTES + size, self._loop.time() - sent_at)
        return response


def knows_no_leader(response: Message) -> bool:
    """Returns whether a Fetch had a response without records and without a leader to fetch from."""
    if not isinstance(response, FetchResponse):
        return False
    return response.error_code != Errors.NONE or any(
        partition.error_code != Errors.NONE and partition.current_leader.leader_id < 0
        for topic in response.responses
        for partition in topic.partitions
    )
