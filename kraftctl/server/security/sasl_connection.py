"""A connection whose client authenticates by SASL, at first and again before its session expires."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from kraftctl.controller.results.failures import kind_of
from kraftctl.node.request_outcomes import Close
from kraftctl.server.connections.authentication_metrics import AuthenticationMetrics
from kraftctl.server.connections.connection import Connection, ConnectionOwner
from kraftctl.server.connections.connection_states import SUBMIT
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.security.credential_lookup import CredentialsUnavailableError
from kraftctl.server.security.sasl_exchange import Outcome, SaslExchange, SaslServers, Session
from kraftctl.server.security.unfinished_handshakes import UnfinishedHandshakes
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.authentication_failures import plain_text

AUTHENTICATION_SECONDS_MAX: Final = 10.0
"""The limit for all messages of one authentication, the same as for the SSL handshake before it."""

REAUTHENTICATION_SECONDS_MIN: Final = 1.0
"""A session is renewed no more often, as by Kafka's KafkaChannel."""

SASL_HANDSHAKE: Final = ApiKey.SASL_HANDSHAKE.to_bytes(2, "big")


class SaslListener:
    """The common data of a listener's connections.

    `over_ssl`: an SSL handshake comes first. `unfinished` has all connections that are not authenticated.
    """

    def __init__(
        self,
        servers: SaslServers,
        *,
        over_ssl: bool,
        receive_bytes_max: int,
        failure_seconds: float,
        unfinished: UnfinishedHandshakes[SaslConnection],
        metrics: AuthenticationMetrics,
        refusals: RateLimitedLog,
        wall_ms: Callable[[], int],
    ) -> None:
        self.servers = servers
        self.over_ssl = over_ssl
        self.receive_bytes_max = receive_bytes_max
        self.failure_seconds = failure_seconds
        self.unfinished = unfinished
        self.metrics = metrics
        self.refusals = refusals
        self.wall_ms = wall_ms


class SaslConnection(Connection):
    """A connection that serves no requests while its client authenticates: at first, and each time again.

    It has 16 fields, because its timer and that of a client with a used-up quota end at different times.
    """

    def __init__(self, owner: ConnectionOwner, listener: SaslListener) -> None:
        super().__init__(owner)
        self._listener = listener
        self._exchange: SaslExchange | None = SaslExchange(listener.servers)
        self._session: Session | None = None
        self._renewed_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        """It ends an authentication that takes too long, then one that has failed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._is_closed and not self._listener.over_ssl:
            self._begin()

    def authenticated(self, principal: KafkaPrincipal) -> None:
        """Handles the end of the SSL handshake. SASL decides who the client is (KIP-684)."""
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._set_timer(None)
        self._listener.unfinished.remove(self.peer_host, self)

    def leave(self, reason: str) -> None:
        """Closes immediately, with a log line."""
        self._refuse(reason)
        self.abort()

    # Which requests are served.

    def _takes_turns(self) -> bool:
        """Returns False while the client authenticates: its tokens do."""
        return self._exchange is None

    def _start(self, frame: bytes) -> None:
        if self._exchange is None and self._asks_for_renewal(frame):
            self._begin_again()
        if self._exchange is not None:
            self._receive(frame, self._exchange)
        elif self._session is not None and self._session.has_expired(self._owner.now()):
            self._listener.metrics.expired_connections_killed_count += 1
            self._refuse("its session has expired, and it has not authenticated again")
        else:
            super()._start(frame)

    def _asks_for_renewal(self, frame: bytes) -> bool:
        """Returns whether this is a renewal; otherwise SaslHandshake gets ILLEGAL_SASL_STATE, as in Kafka."""
        if self._session is None or self._session.ends_at is None or not frame.startswith(SASL_HANDSHAKE):
            return False
        renewed_at = self._renewed_at
        return renewed_at is None or self._owner.now() - renewed_at >= REAUTHENTICATION_SECONDS_MIN

    # The exchange.

    def _begin(self) -> None:
        """Starts an authentication when the first bytes may come."""
        self._limit_to_tokens()
        self._set_timer(self._owner.loop.call_later(AUTHENTICATION_SECONDS_MAX, self._expire))
        crowded = self._listener.unfinished.add(self.peer_host, self)
        if crowded is not None:
            crowded.leave("too many connections are not authenticated")

    def _begin_again(self) -> None:
        self._renewed_at = self._owner.now()
        self._exchange = SaslExchange(self._listener.servers, self._session)
        self._limit_to_tokens()
        self._set_timer(self._owner.loop.call_later(AUTHENTICATION_SECONDS_MAX, self._expire))

    def _receive(self, frame: bytes, exchange: SaslExchange) -> None:
        received = exchange.receive(frame)
        if isinstance(received, str):
            self._refuse_bytes(frame, received, is_framed=True)
            return
        if received.api.key == ApiKey.API_VERSIONS and not exchange.expects_tokens:
            super()._start(frame)
            return
        self._take(received, frame)
        self._on(SUBMIT)
        # Tokens may be signed, and credentials derived: what that takes is shared among addresses.
        self.turns.wait(self.client.address, self._evaluate)

    def _evaluate(self) -> None:
        exchange, request = self._exchange, self._request
        if self._is_closed or exchange is None or request is None:
            return
        try:
            outcome = exchange.answer(request, self._listener.wall_ms())
        except CredentialsUnavailableError as error:
            self._refuse(str(error))
        except Exception as error:  # noqa: BLE001 - a bug on our side that concerns this one client
            failures = self._owner.logs.failures
            failures.log(logging.ERROR, "Cannot authenticate %s: %s", self.client.peer, kind_of(error))
            self.abort()
        else:
            self._conclude(outcome, is_renewal=exchange.is_renewal)

    def _conclude(self, outcome: Outcome, *, is_renewal: bool) -> None:
        if outcome.failure is not None:
            self._end_later(outcome.failure, outcome.response, is_renewal=is_renewal)
            return
        if outcome.session is not None:
            self._complete(outcome.session, is_renewal=is_renewal)
        else:
            self._limit_to_tokens()
        if not self._is_closed:
            self._respond_now(Close() if outcome.response is None else outcome.response)

    def _complete(self, session: Session, *, is_renewal: bool) -> None:
        self._exchange = None
        self._session = session
        session.begin(self._owner.now())
        self._set_timer(None)
        self._listener.unfinished.remove(self.peer_host, self)
        self._listener.metrics.succeeded(is_renewal=is_renewal, is_renewable=session.is_renewable)
        self.client.principal = session.principal
        self._limit_requests()

    # Failures.

    def _end_later(self, reason: str, response: Message | None, *, is_renewal: bool) -> None:
        """Responds after a delay, which makes guessing slow, and closes."""
        self._listener.metrics.failed(is_renewal=is_renewal)
        what = "re-authentication" if is_renewal else "authentication"
        self._listener.refusals.warning("Failed %s with %s (%s)", what, self.client.peer, plain_text(reason))
        self._incoming.drop_whole()
        self._pause_reading()
        seconds = self._listener.failure_seconds
        self._set_timer(self._owner.loop.call_later(seconds, self._end_failed, response))

    def _end_failed(self, response: Message | None) -> None:
        self._timer = None
        if self._is_closed:
            return
        if response is not None:
            self._respond_now(response)
        self.close()

    def _expire(self) -> None:
        self._timer = None
        self.leave(f"it is not authenticated after {AUTHENTICATION_SECONDS_MAX:.0f} s")

    def _set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def _note_sasl(self) -> None:
        """Notes a request of SASL that is invalid only at this time, and gets that response."""

    # Frames.

    def _limit_to_tokens(self) -> None:
        """Limits what is received next, also if its beginning has come already."""
        assert self._exchange is not None
        limits = (self._owner.max_frame_bytes, self._listener.receive_bytes_max)
        bytes_max = min(*limits, self._exchange.received_bytes_max)
        self._limit(bytes_max, None)
