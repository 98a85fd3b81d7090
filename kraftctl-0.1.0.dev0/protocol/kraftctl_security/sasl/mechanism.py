"""What each SASL mechanism offers: one side of one authentication, message by message (RFC 4422)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kraftctl_protocol.principal import KafkaPrincipal


class SaslAuthenticationError(Exception):
    """The authentication has failed. The other side sees the text, so it names no secret and no other user.

    `reason` is for the log of this side; it names no secret either. It defaults to the text.
    """

    def __init__(self, text: str, *, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = text if reason is None else reason


class Authenticated:
    """The principal of a client whose authentication is complete.

    `expires_at_ms` is in wall-clock time: the credential is not valid from then on; None without an end.
    `token_authenticated` says that a delegation token was used, with which no other token may be created
    (KIP-48).
    """

    def __init__(self, principal: KafkaPrincipal, *, expires_at_ms: int | None = None) -> None:
        self.principal = principal
        self.expires_at_ms = expires_at_ms

    @property
    def token_authenticated(self) -> bool:
        return self.principal.token_authenticated


class SaslServer(Protocol):
    """The side of a listener in one authentication."""

    authenticated: Authenticated | None
    """Is None until the exchange is complete."""

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """Returns the response to a token of the client. Raises SaslAuthenticationError; do not call it
        afterwards.
        """
        ...


class SaslClient(Protocol):
    """The side that opens the connection in one authentication."""

    mechanism: str
    is_complete: bool

    def evaluate(self, challenge: bytes) -> bytes | None:
        """Returns the next token; the first challenge is empty. None when the exchange is complete.

        Raises SaslAuthenticationError, for example when the server does not prove who it is.
        """
        ...


NewSaslClient = Callable[[], SaslClient]
"""Makes a mechanism for an authentication. It may wait for a token server; raises SaslAuthenticationError."""
