"""What a handler knows about a request apart from its body: sender, listener, API, version."""

from __future__ import annotations

from kraftctl.apis.api import Api
from kraftctl_protocol.principal import KafkaPrincipal


class RequestContext:
    """What is known before the body is decoded: sender, listener, API, version.

    `envelope` is True for a request a broker forwarded on behalf of a client (KIP-590): then
    `principal` and `client_address` are the client's, never the forwarding broker's.
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
    ) -> None:
        self.api = api
        self.version = version
        self.client_id = client_id
        self.principal = principal
        self.listener = listener
        self.client_address = client_address
        self.envelope = envelope

    @property
    def api_key(self) -> int:
        return self.api.key
