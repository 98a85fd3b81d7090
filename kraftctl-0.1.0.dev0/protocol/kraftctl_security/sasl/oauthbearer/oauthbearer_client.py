"""The side of OAUTHBEARER that opens the connection, like Kafka's OAuthBearerSaslClient."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.initial_response import ERROR_ACKNOWLEDGEMENT, InitialResponse
from kraftctl_security.sasl.oauthbearer.oauthbearer_server import MECHANISM, REASON_CHARACTERS_MAX


class TokenUnavailableError(Exception):
    """There is no token to authenticate with; the text says why."""


class OAuthBearerSaslClient:
    """Authenticates once. `token` returns a token without waiting, or raises TokenUnavailableError."""

    mechanism = MECHANISM

    def __init__(self, token: Callable[[], str], extensions: Mapping[str, str]) -> None:
        self.is_complete = False
        self._token = token
        self._extensions = extensions
        self._sent = False
        self._error: str | None = None

    def evaluate(self, challenge: bytes) -> bytes | None:
        """Returns the token, then nothing; after the server's error, the octet that lets it end the
        exchange.
        """
        if not self._sent:
            self._sent = True
            return self._first(challenge)
        if self._error is not None:
            raise SaslAuthenticationError(f"the server refuses the token: {self._error}")
        if challenge:
            self._error = challenge[:REASON_CHARACTERS_MAX].decode(errors="replace")
            return ERROR_ACKNOWLEDGEMENT
        self.is_complete = True
        return None

    def _first(self, challenge: bytes) -> bytes:
        if challenge:
            raise SaslAuthenticationError("the server has sent a challenge before the token")
        try:
            return InitialResponse(self._token(), extensions=self._extensions).to_bytes()
        except TokenUnavailableError as error:
            raise SaslAuthenticationError(str(error)) from error
