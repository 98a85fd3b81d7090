"""SocketServer: binds the controller's listeners, admits connections and reaps idle ones."""

from __future__ import annotations

import asyncio
import logging
import socket

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.endpoints import Endpoint
from kraftctl.server.connection import Connection, ReceiveBudget, RequestHandler
from kraftctl.server.metrics import RequestMetrics, performance_line
from kraftctl.server.request_log import RateLimitedLog, RequestLog
from kraftctl_protocol.api_keys import ApiKey

logger = logging.getLogger("kraftctl.server.listener")

STOP_SECONDS_MAX = 2.0
"""How long a stopping server waits for slow readers to take their last answers."""

UNFINISHED_REQUESTS_MAX = 2
"""How many unfinished requests of the largest size all connections together may hold, unless
queued.max.request.bytes is set."""

REAPS_PER_IDLE_TIME = 10

API_NAMES = {key.value: key.name for key in ApiKey}


class ListenError(Exception):
    """A listener cannot be bound; the message says which, why, and what to do."""


class ConnectionQuotas:
    """`max.connections` and `max.connections.per.ip`, over all listeners."""

    def __init__(self, config: ControllerConfig) -> None:
        self._max = config.max_connections
        self._max_per_ip = config.max_connections_per_ip
        self._overrides = config.max_connections_per_ip_overrides
        self._by_ip: dict[str, int] = {}
        self.count = 0

    def why_not(self, host: str) -> str | None:
        """Why one more connection from `host` is too many, or None when it is admitted."""
        if self.count >= self._max:
            return f"max.connections={self._max} is reached"
        max_per_ip = self._overrides.get(host, self._max_per_ip)
        if self._by_ip.get(host, 0) >= max_per_ip:
            return f"max.connections.per.ip={max_per_ip} is reached"
        return None

    def add(self, host: str) -> None:
        self.count += 1
        self._by_ip[host] = self._by_ip.get(host, 0) + 1

    def remove(self, host: str) -> None:
        self.count -= 1
        self._by_ip[host] -= 1
        if self._by_ip[host] == 0:
            del self._by_ip[host]


class Listener:
    """One bound endpoint and its open connections."""

    def __init__(self, server: SocketServer, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.listener_name = endpoint.listener
        self.max_frame_bytes = server.config.socket_request_max_bytes
        self.handler: RequestHandler
        self.budget = server.budget
        self.request_log = server.request_log
        self.refusals = server.refusals
        self.failures = server.failures
        self.connections: set[Connection] = set()
        self.port = endpoint.port
        self._server = server
        self._bound: socket.socket | None = None
        self._accepting: asyncio.Server | None = None

    async def bind(self) -> None:
        """Take the port; clients cannot connect yet."""
        self._bound = await _bind(asyncio.get_running_loop(), self.endpoint, self._server.config)
        self.port = self._bound.getsockname()[1]

    async def accept(self, handler: RequestHandler) -> None:
        """Every request goes to `handler` from now on."""
        assert self._bound is not None, "bind comes first"
        self.handler = handler
        loop = asyncio.get_running_loop()
        self._accepting = await loop.create_server(
            lambda: Connection(self, loop),
            sock=self._bound,
            backlog=self._server.config.socket_listen_backlog_size,
        )
        logger.info("Awaiting socket connections on %s (port %d).", self.endpoint, self.port)

    def stop_accepting(self) -> None:
        if self._accepting is not None:
            self._accepting.close()
        elif self._bound is not None:
            self._bound.close()

    def admit(self, connection: Connection) -> bool:
        """Whether quotas leave room; logs a refusal."""
        quotas = self._server.quotas
        reason = quotas.why_not(connection.peer_host)
        if reason is not None:
            self._server.metrics.refused_connections_count += 1
            self.refusals.warning("Refusing connection from %s: %s", connection.peer, reason)
            return False
        quotas.add(connection.peer_host)
        self.connections.add(connection)
        self._server.metrics.connections_count += 1
        return True

    def release(self, connection: Connection) -> None:
        """The connection is gone."""
        self.connections.discard(connection)
        self._server.quotas.remove(connection.peer_host)
        self._server.metrics.connections_count -= 1

    def reap(self, idle_since: float) -> None:
        """Close connections that have been silent since `idle_since` and do not wait for an answer."""
        for connection in list(self.connections):
            if not connection.busy and connection.last_active <= idle_since:
                logger.debug("Closing idle connection from %s", connection.peer)
                connection.abort()


class SocketServer:
    """All listeners of a controller. Call `bind`, which finds the ports, then `accept`; always `stop`."""

    def __init__(self, config: ControllerConfig, metrics: RequestMetrics | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.config = config
        self.metrics = metrics or RequestMetrics()
        self.request_log = RequestLog(self.metrics)
        self.refusals = RateLimitedLog(logger, loop.time)
        self.failures = RateLimitedLog(logger, loop.time)
        self.quotas = ConnectionQuotas(config)
        self.budget = ReceiveBudget(_unfinished_bytes_max(config))
        self.listeners = [Listener(self, endpoint) for endpoint in config.listeners]
        self._loop = loop
        self._reaper: asyncio.TimerHandle | None = None
        self._performance_timer: asyncio.TimerHandle | None = None

    @property
    def bound_ports(self) -> dict[str, int]:
        """Listener name -> the port it is bound to; differs from the configured one where that is 0."""
        return {listener.listener_name: listener.port for listener in self.listeners}

    async def bind(self) -> None:
        """Take the port of every listener, or raise ListenError and leave none open."""
        try:
            for listener in self.listeners:
                await listener.bind()
        except ListenError:
            await self.stop()
            raise

    async def accept(self, handler: RequestHandler) -> None:
        """Open every listener; every request goes to `handler`."""
        for listener in self.listeners:
            await listener.accept(handler)
        self._schedule_reaper()
        self._schedule_performance_line()

    async def stop(self) -> None:
        """Stop accepting, let written answers leave, close everything. Idempotent."""
        for timer in (self._reaper, self._performance_timer):
            if timer is not None:
                timer.cancel()
        for listener in self.listeners:
            listener.stop_accepting()
        for connection in self._connections():
            connection.close()
        deadline = self._loop.time() + STOP_SECONDS_MAX
        while self._connections() and self._loop.time() < deadline:
            await asyncio.sleep(0.01)
        for connection in self._connections():
            connection.abort()
        await asyncio.sleep(0)

    def _connections(self) -> list[Connection]:
        return [connection for listener in self.listeners for connection in listener.connections]

    def _schedule_reaper(self) -> None:
        idle_ms = self.config.connections_max_idle_ms
        if idle_ms >= 0:
            delay_seconds = max(idle_ms, 1) / 1000 / REAPS_PER_IDLE_TIME
            self._reaper = self._loop.call_later(delay_seconds, self._reap)

    def _reap(self) -> None:
        self._schedule_reaper()
        idle_since = self._loop.time() - self.config.connections_max_idle_ms / 1000
        for listener in self.listeners:
            listener.reap(idle_since)

    def _schedule_performance_line(self) -> None:
        delay_seconds = self.config.controller_performance_sample_period_ms / 1000
        self._performance_timer = self._loop.call_later(delay_seconds, self._log_performance)

    def _log_performance(self) -> None:
        self._schedule_performance_line()
        period_ms = self.config.controller_performance_sample_period_ms
        logger.info("%s", performance_line(period_ms, self.metrics.take(), API_NAMES))


def _unfinished_bytes_max(config: ControllerConfig) -> int:
    if config.queued_max_request_bytes > 0:
        return config.queued_max_request_bytes
    return config.socket_request_max_bytes * UNFINISHED_REQUESTS_MAX


async def _bind(
    loop: asyncio.AbstractEventLoop, endpoint: Endpoint, config: ControllerConfig
) -> socket.socket:
    """A bound socket: the host's first address, IPv4 first as Java does, or the wildcard of both."""
    try:
        if endpoint.host is None:
            return _bind_wildcard(endpoint.port, config)
        found = await loop.getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        return _bound(socket.AddressFamily(family), address, config)
    except OSError as error:
        raise ListenError(
            f"cannot listen on {endpoint}: {error.strerror or error}. Next step: free the address, or choose "
            "another host or port in 'listeners'."
        ) from error


def _bind_wildcard(port: int, config: ControllerConfig) -> socket.socket:
    if socket.has_dualstack_ipv6():
        return _bound(socket.AF_INET6, ("::", port), config)
    return _bound(socket.AF_INET, ("0.0.0.0", port), config)


def _bound(
    family: socket.AddressFamily, address: tuple[object, ...], config: ControllerConfig
) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if config.socket_receive_buffer_bytes > 0:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, config.socket_receive_buffer_bytes)
        if config.socket_send_buffer_bytes > 0:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, config.socket_send_buffer_bytes)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
