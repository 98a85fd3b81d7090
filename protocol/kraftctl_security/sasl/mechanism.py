"""What each SASL mechanism offers: one side of one authentication, message by message (RFC 4422)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kraftctl_protocol.principal import KafkaPrincipal


class SaslAuthenticationError(Exception):
    """The authentication has failed. The other side sees the text: it names no secret and no other user.

    `reason` is for the log of this side; it names no secret either. It is the text where that says it all.
    """

    def __init__(self, text: str, *, reason: str | None = None) -> None:
        super().__init__(text)
        self.reason = text if reason is None else reason


class Authenticated:
    """Who a client is.

    `expires_at_ms` is in wall-clock time, None without an end: the credential is not valid from then on.
    `token_authenticated`: by a delegation token, with which no other token may be created (KIP-48).
    """

    def __init__(self, principal: KafkaPrincipal, *, expires_at_ms: int | None = None) -> None:
        self.principal = principal
        self.expires_at_ms = expires_at_ms

    @property
    def token_authenticated(self) -> bool:
        return self.principal.token_authenticated


class SaslServer(Protocol):
    """The side of a listener."""

    authenticated: Authenticated | None
    """None until the exchange is complete."""

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """The answer to a token of the client. Raises SaslAuthenticationError; not called after that."""
        ...


class SaslClient(Protocol):
    """The side that opens the connection."""

    mechanism: str
    is_complete: bool

    def evaluate(self, challenge: bytes) -> bytes | None:
        """The next token; the first challenge is empty. None when the exchange is complete, nothing to send.

        Raises SaslAuthenticationError, for example when the server does not prove who it is.
        """
        ...


NewSaslClient = Callable[[], SaslClient]
"""A mechanism for one authentication. May wait for a token server; raises SaslAuthenticationError."""
