"""What a handler knows about a request apart from its body: sender, listener, API, version."""

from __future__ import annotations

from kraftctl.apis.api import Api
from kraftctl_protocol.principal import KafkaPrincipal


class RequestContext:
    """What is known before the body is decoded: sender, listener, API, version.

    `envelope` is True for a request a broker forwarded on behalf of a client (KIP-590): then
    `principal` and `client_address` are the client's, never the forwarding broker's. `forwarded_by` is what
    is known of the envelope then: for the audit log alone, no right follows from it. `received_ms` is on the
    clock of deadlines, None for now.
    """

    def __init__(
        self,
        *,
        api: Api,
        version: int,
        client_id: str | None,
        principal: KafkaPrincipal,
        listener: str,
        client_address: bytes,
        envelope: bool = False,
        correlation_id: int = -1,
        forwarded_by: RequestContext | None = None,
        connection_id: int = 0,
        received_ms: int | None = None,
    ) -> None:
        self.api = api
        self.version = version
        self.client_id = client_id
        self.principal = principal
        self.listener = listener
        self.client_address = client_address
        self.envelope = envelope
        self.correlation_id = correlation_id
        self.forwarded_by = forwarded_by
        self.connection_id = connection_id
        self.received_ms = received_ms

    @property
    def api_key(self) -> int:
        return self.api.key
