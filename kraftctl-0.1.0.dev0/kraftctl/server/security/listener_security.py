"""ListenerSecurity: the SSL and SASL of all listeners, with what their handshakes share."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.endpoints import Endpoint
from kraftctl.server.connections.authentication_metrics import AuthenticationMetrics
from kraftctl.server.connections.connection_logs import ConnectionLogs
from kraftctl.server.process.clock import Clock
from kraftctl.server.security.sasl_connection import SaslConnection, SaslListener
from kraftctl.server.security.sasl_exchange import SaslServers
from kraftctl.server.security.sasl_servers import ListenerSaslServers
from kraftctl.server.security.ssl_metrics import SslMetrics
from kraftctl.server.security.ssl_transport import SslListener, SslTransport
from kraftctl.server.security.unfinished_handshakes import UnfinishedHandshakes
from kraftctl_security.sasl.scram_server import ScramCredentials
from kraftctl_security.tls.store_error import StoreError

if TYPE_CHECKING:
    from kraftctl_security.tls.contexts import Stores


class ListenerSecurity:
    """Makes the SSL and SASL part of each listener. Raises StoreError for keys that cannot be used."""

    def __init__(
        self,
        config: ControllerConfig,
        metrics: AuthenticationMetrics,
        logs: ConnectionLogs,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.config = config
        self._metrics = metrics
        self._logs = logs
        self._loop = loop
        self._unfinished: UnfinishedHandshakes[SslTransport] = UnfinishedHandshakes()
        self.unauthenticated: UnfinishedHandshakes[SaslConnection] = UnfinishedHandshakes()
        self.ssl_metrics = SslMetrics()
        self.ssl_listeners: dict[str, SslListener] = {}
        self.ssl_stores: dict[str, Stores] = {}
        self._sasl_servers: list[ListenerSaslServers] = []

    def ssl_listener(self, endpoint: Endpoint) -> SslListener | None:
        """Returns the SSL part of a listener; None for those without SSL."""
        config = self.config.ssl.get(endpoint.listener)
        if config is None:
            return None
        # With the library for certificates: 8 MiB that a controller without SSL has no use for.
        from kraftctl_security.tls.contexts import load_stores, server_context

        try:
            stores = load_stores(config)
            context = server_context(config, stores)
        except StoreError as error:
            raise StoreError(f"Listener {endpoint.listener}: {error}") from error
        self.ssl_stores[endpoint.listener] = stores
        listener = SslListener(
            self._loop,
            context,
            config.principal_mapper if endpoint.security_protocol == "SSL" else None,
            self._unfinished,
            self._logs.foreign_clients,
        )
        self.ssl_listeners[endpoint.listener] = listener
        return listener

    def sasl_listener_of(self, name: str, credentials: ScramCredentials | None) -> SaslListener | None:
        """Returns the SASL part of a listener, which `close` ends; None for those without SASL."""
        config = self.config.sasl.get(name)
        if config is None:
            return None
        assert credentials is not None, f"the clients of listener {name} are compared with something"
        try:
            servers = ListenerSaslServers(config, credentials)
        except StoreError as error:
            raise StoreError(f"Listener {name}: for the issuer of tokens, {error}") from error
        self._sasl_servers.append(servers)
        servers.start()
        receive_bytes_max = config.receive_bytes_max
        over_ssl = name in self.config.ssl
        return self.sasl_listener(servers, over_ssl=over_ssl, receive_bytes_max=receive_bytes_max)

    def sasl_listener(self, servers: SaslServers, *, over_ssl: bool, receive_bytes_max: int) -> SaslListener:
        """Returns the SASL part of a listener that authenticates clients by these mechanisms."""
        return SaslListener(
            servers,
            over_ssl=over_ssl,
            receive_bytes_max=receive_bytes_max,
            failure_seconds=self.config.connection_failed_authentication_delay_ms / 1000,
            unfinished=self.unauthenticated,
            metrics=self._metrics,
            refusals=self._logs.failed_authentications,
            wall_ms=Clock().wall_ms,
        )

    def close(self) -> None:
        """Ends the threads that read keys of issuers."""
        for servers in self._sasl_servers:
            servers.close()
