"""AccessToken has the claims of a valid JWT; JwtValidatorError is the error of one that is not valid."""

from __future__ import annotations


class JwtValidatorError(Exception):
    """A token that is not accepted. The text is for the log of this node, not for the client."""


class AccessToken:
    """The claims of a valid token. `expires_at_ms` is wall-clock time without clock skew. `scopes` are
    sorted.
    """

    def __init__(
        self, *, principal_name: str, scopes: list[str], issued_at_ms: int | None, expires_at_ms: int
    ) -> None:
        self.principal_name = principal_name
        self.scopes = scopes
        self.issued_at_ms = issued_at_ms
        self.expires_at_ms = expires_at_ms
