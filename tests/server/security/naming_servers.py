"""A SASL mechanism that a test can follow by eye: the token is the name, some questions come first."""

from __future__ import annotations

from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError

BAD = b"bad"


class NamingServer:
    """Everybody is who they say they are, except `bad`."""

    def __init__(self, questions_count: int, expires_at_ms: int | None) -> None:
        self.authenticated: Authenticated | None = None
        self._questions_count = questions_count
        self._expires_at_ms = expires_at_ms

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        assert self.authenticated is None, "nothing is evaluated after the end"
        if token == BAD:
            raise SaslAuthenticationError("Authentication failed: not you")
        if self._questions_count > 0:
            self._questions_count -= 1
            return b"who?" + token
        principal = KafkaPrincipal("User", token.decode())
        self.authenticated = Authenticated(principal, expires_at_ms=self._expires_at_ms)
        return b"welcome"


class NamingServers:
    """NAMING, and ASKING with one question."""

    def __init__(
        self, *, session_ms_max: int = 0, expires_at_ms: int | None = None, token_bytes_max: int = 4096
    ) -> None:
        self.mechanisms = ["NAMING", "ASKING"]
        self._session_ms_max = session_ms_max
        self._expires_at_ms = expires_at_ms
        self._token_bytes_max = token_bytes_max

    def server(self, mechanism: str) -> NamingServer:
        return NamingServer(self.mechanisms.index(mechanism), self._expires_at_ms)

    def token_bytes_max(self, mechanism: str) -> int:
        return self._token_bytes_max

    def session_ms_max(self, mechanism: str) -> int:
        return self._session_ms_max
