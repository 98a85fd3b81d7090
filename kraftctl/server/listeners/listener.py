"""SocketServer: binds the controller's listeners, admits connections and reaps idle ones."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import cast

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.endpoints import Endpoint
from kraftctl.server.connections.connection import Connection, ConnectionOwner
from kraftctl.server.connections.connection_logs import ConnectionLogs
from kraftctl.server.connections.metrics import RequestMetrics, performance_line
from kraftctl.server.connections.turn_responses import TurnResponses
from kraftctl.server.listeners.acceptor import PENDING_MAX, Acceptor
from kraftctl.server.listeners.bound_sockets import ListenError, bind_endpoint, listen_error
from kraftctl.server.listeners.connection_accounts import ConnectionAccounts
from kraftctl.server.listeners.connection_quotas import ConnectionQuotas
from kraftctl.server.listeners.descriptors import connections_max, open_count, open_files_limit
from kraftctl.server.listeners.early_start import late_listeners
from kraftctl.server.loop.client_requests import RequestHandler
from kraftctl.server.process.sockets_first import call_after_sockets
from kraftctl.server.security.listener_security import ListenerSecurity
from kraftctl.server.security.once_loaded import OnceLoaded
from kraftctl.server.security.sasl_connection import SaslConnection, SaslListener
from kraftctl.server.security.ssl_transport import SslTransport
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_security.config_values import INT_MAX
from kraftctl_security.sasl.scram_server import ScramCredentials

logger = logging.getLogger("kraftctl.server.listener")

STOP_SECONDS_MAX = 2.0
"""A stopping server waits this long for slow readers to take their last responses."""

UNFINISHED_REQUESTS_MAX = 2
"""The number of unfinished requests of the largest size that all connections together may hold, unless
queued.max.request.bytes is set."""

REAPS_PER_IDLE_TIME = 10


API_NAMES = {key.value: key.name for key in ApiKey}


class Listener:
    """Binds one endpoint and accepts its connections, which `server` keeps."""

    def __init__(self, server: SocketServer, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.listener_name = endpoint.listener
        self.port = endpoint.port
        self.ssl = server.security.ssl_listener(endpoint)
        self.sasl: SaslListener | None = None
        """The authentication of clients; known when connections are accepted."""
        self._server = server
        self._bound: socket.socket | None = None
        self._acceptor: Acceptor | None = None

    async def bind(self) -> None:
        """Takes the port; clients cannot connect yet."""
        self._bound = await bind_endpoint(self.endpoint, self._server.config)
        self.port = self._bound.getsockname()[1]

    def covers(self, host: str, port: int) -> bool:
        """Returns whether it is bound to this address, or to all addresses with this port."""
        if self._bound is None or port != self.port:
            return False
        bound_host = self._bound.getsockname()[0]
        return bound_host in (host, "::") or (bound_host == "0.0.0.0" and ":" not in host)

    def accept(self, handler: RequestHandler, *, is_late: bool = False) -> None:
        """Sends every request to `handler` from now on. With `is_late`, `start` comes later."""
        assert self._bound is not None, "bind comes first"
        owner = self.owner(handler)
        try:
            self._bound.listen(self._server.config.socket_listen_backlog_size)
        except OSError as error:
            raise listen_error(self.endpoint, error) from error
        self._acceptor = Acceptor(owner.loop, self._bound, self, lambda: self._new_connection(owner))
        if is_late:
            logger.info("%s accepts connections once the ACLs are loaded.", self.endpoint)
        else:
            self.start()

    def start(self) -> None:
        """Starts to accept connections."""
        assert self._acceptor is not None, "accept comes first"
        self._acceptor.start()
        logger.info("Awaiting socket connections on %s (port %d).", self.endpoint, self.port)

    def owner(self, handler: RequestHandler) -> ConnectionOwner:
        """Returns what the connections of this listener share."""
        server = self._server
        return ConnectionOwner(
            listener_name=self.listener_name,
            security_protocol=self.endpoint.security_protocol,
            max_frame_bytes=server.config.socket_request_max_bytes,
            loop=asyncio.get_running_loop(),
            handler=handler,
            accounts=server.accounts,
            responses=server.responses,
            logs=server.logs,
        )

    def _new_connection(self, owner: ConnectionOwner) -> asyncio.Protocol:
        sasl = self.sasl
        connection = Connection(owner) if sasl is None else SaslConnection(owner, sasl)
        if self.ssl is not None:
            return SslTransport(self.ssl, connection)
        # The loops call the methods of a protocol and ask for no class. One between them and a compiled
        # connection would be interpreted.
        return cast("asyncio.Protocol", connection)

    def stop_accepting(self) -> None:
        if self._acceptor is not None:
            self._acceptor.stop()
        elif self._bound is not None:
            self._bound.close()

    def may_accept(self) -> bool:
        """Returns False while an idle connection is closed to make room."""
        return self._server.accounts.may_accept()

    def why_not(self, host: str) -> str | None:
        """Returns why quotas refuse one more connection."""
        return self._server.accounts.quotas.why_not(host, self.listener_name)

    def pause_seconds(self) -> float:
        """Returns how long clients wait in the backlog when they come too fast."""
        return self._server.accounts.quotas.pause_seconds(self.listener_name)

    def accepted(self) -> None:
        """Counts a connection that was accepted."""
        self._server.accounts.quotas.accepted(self.listener_name)

    def refuse(self, peer: str, reason: str) -> None:
        """Counts and logs a client that is refused."""
        self._server.accounts.refuse(peer, reason)


class SocketServer:
    """All listeners of a controller. Call `bind`, which finds the ports, then `accept`; always `stop`.

    Raises StoreError for keys and certificates that cannot be used.
    """

    def __init__(self, config: ControllerConfig, metrics: RequestMetrics | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.config = config
        self.metrics = metrics or RequestMetrics()
        self.logs = ConnectionLogs(self.metrics, loop.time)
        self.accounts = ConnectionAccounts(
            ConnectionQuotas(config.connection_limits, loop.time),
            _unfinished_bytes_max(config),
            self.metrics,
            self.logs.refusals,
            loop.time,
        )
        self.responses = TurnResponses(loop)
        self.security = ListenerSecurity(config, self.metrics.authentications, self.logs, loop)
        self.listeners = [Listener(self, endpoint) for endpoint in config.listeners]
        self._loop = loop
        self._late_start: OnceLoaded | None = None
        self._reaper: asyncio.TimerHandle | None = None
        self._performance_timer: asyncio.TimerHandle | None = None

    @property
    def bound_ports(self) -> dict[str, int]:
        """Returns the port of each listener; it differs from the configured one where that is 0."""
        return {listener.listener_name: listener.port for listener in self.listeners}

    def listens_at(self, host: str, port: int) -> bool:
        """Returns whether a connection to this address of this machine is one to this process."""
        return any(listener.covers(host, port) for listener in self.listeners)

    async def bind(self) -> None:
        """Takes the port of every listener, or raises ListenError and leaves none open."""
        try:
            for listener in self.listeners:
                await listener.bind()
        except ListenError:
            await self.stop()
            raise

    async def accept(
        self,
        handler: RequestHandler,
        has_rules: Callable[[], bool] = lambda: True,
        credentials: ScramCredentials | None = None,
    ) -> None:
        """Opens every listener; every request goes to `handler`.

        `has_rules`: the ACLs are loaded. Listeners with SASL need `credentials`, of users and tokens.
        """
        self._share_descriptors()
        self._announce_connections_max()
        for listener in self.listeners:
            listener.sasl = self.security.sasl_listener_of(listener.listener_name, credentials)
        late_names = late_listeners(self.config)
        late = [listener for listener in self.listeners if listener.listener_name in late_names]
        for listener in self.listeners:
            listener.accept(handler, is_late=listener in late)
        if late:
            self._late_start = OnceLoaded(self._loop, has_rules, [each.start for each in late])
        self._schedule_reaper()
        self._schedule_performance_line()

    async def stop(self) -> None:
        """Stops accepting, sends written responses, closes everything. Further calls have no effect."""
        if self._late_start is not None:
            self._late_start.stop()
        for timer in (self._reaper, self._performance_timer):
            if timer is not None:
                timer.cancel()
        self.security.close()
        for listener in self.listeners:
            listener.stop_accepting()
        for connection in list(self.accounts.connections):
            connection.close()
        deadline = self._loop.time() + STOP_SECONDS_MAX
        while self.accounts.connections and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in list(self.accounts.connections):
            connection.abort()
        await asyncio.sleep(0)

    # Room for connections.

    def _share_descriptors(self) -> None:
        """Leaves to connections what storage and other controllers do not need."""
        limit = open_files_limit()
        try:
            other_count = open_count() - self.accounts.quotas.count
        except OSError:
            return  # to count them takes one, too
        self.accounts.quotas.descriptors_max = connections_max(
            limit,
            other_count + self.config.operate.reserved_descriptors,
            PENDING_MAX * len(self.listeners),
        )

    def _announce_connections_max(self) -> None:
        limit, allowed = open_files_limit(), self.accounts.quotas.descriptors_max
        logger.info("The limit of %d open files (ulimit -n) allows %d connections", limit, allowed)
        if allowed < self.config.max_connections < INT_MAX:
            logger.warning(
                "max.connections=%d is more than the limit of %d open files allows: clients are turned away"
                " from %d connections on. Raise the limit (ulimit -n, LimitNOFILE) or lower max.connections.",
                self.config.max_connections,
                limit,
                allowed,
            )

    def _schedule_reaper(self) -> None:
        idle_ms = self.config.connections_max_idle_ms
        if idle_ms >= 0:
            delay_seconds = max(idle_ms, 1) / 1000 / REAPS_PER_IDLE_TIME
            self._reaper = self._loop.call_later(delay_seconds, call_after_sockets, self._loop, self._reap)

    def _reap(self) -> None:
        self._schedule_reaper()
        self.accounts.reap(self._loop.time() - self.config.connections_max_idle_ms / 1000)

    def _schedule_performance_line(self) -> None:
        delay_seconds = self.config.controller_performance_sample_period_ms / 1000
        self._performance_timer = self._loop.call_later(delay_seconds, self._log_performance)

    def _log_performance(self) -> None:
        self._schedule_performance_line()
        self._share_descriptors()  # a log of many segments has many files
        period_ms = self.config.controller_performance_sample_period_ms
        logger.info("%s", performance_line(period_ms, self.metrics.take(), API_NAMES))
        if (pressure := self.metrics.take_pressure(period_ms)) is not None:
            logger.warning("%s", pressure)
        if (authentications := self.metrics.authentications.take_line(period_ms)) is not None:
            logger.info("%s", authentications)


def _unfinished_bytes_max(config: ControllerConfig) -> int:
    if config.queued_max_request_bytes > 0:
        return config.queued_max_request_bytes
    return config.socket_request_max_bytes * UNFINISHED_REQUESTS_MAX
