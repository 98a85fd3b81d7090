"""ConnectedClient: who is at the other end of a connection."""

from __future__ import annotations

from itertools import count

from kraftctl.apis.api import Api
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal

_connection_ids = count(1)


class ConnectedClient:
    """A client of one listener. Its principal is another one once it has authenticated."""

    def __init__(
        self,
        listener_name: str,
        host: str,
        address: bytes,
        peer: str,
        principal: KafkaPrincipal = ANONYMOUS,
        connection_id: int | None = None,
    ) -> None:
        self.connection_id = next(_connection_ids) if connection_id is None else connection_id
        self.listener_name = listener_name
        self.host = host
        self.address = address
        self.peer = peer
        """The host and the port, for log lines."""
        self.principal = principal
        self.speaks_kafka = False
        """Whether a request of Kafka's has come. Before, its bytes may be those of another protocol."""

    def context(
        self,
        api: Api,
        version: int,
        client_id: str | None = None,
        correlation_id: int = -1,
        received_ms: int | None = None,
    ) -> RequestContext:
        """Returns what a request of this client is decided by, besides its body."""
        return RequestContext(
            api=api,
            version=version,
            client_id=client_id,
            principal=self.principal,
            listener=self.listener_name,
            client_address=self.address,
            correlation_id=correlation_id,
            connection_id=self.connection_id,
            received_ms=received_ms,
        )
