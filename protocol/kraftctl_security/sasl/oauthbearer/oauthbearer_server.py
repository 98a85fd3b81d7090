"""The side of a listener of OAUTHBEARER (RFC 7628), as Kafka's OAuthBearerSaslServer."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.access_token import JwtValidatorError
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponseError, parse_initial_response
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator

MECHANISM: Final = "OAUTHBEARER"

INVALID_TOKEN: Final = '{"status":"invalid_token"}'
"""All that a client learns about a token that is refused."""

REASON_CHARACTERS_MAX: Final = 300
"""Parts of a reason come from the token."""


class OAuthBearerSaslServer:
    """One authentication."""

    def __init__(self, validator: JwtValidator) -> None:
        self.authenticated: Authenticated | None = None
        self._validator = validator
        self._refused_for: str | None = None

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """Empty when the token is valid, else the error, which the client answers before it hears of its end.

        A second token is not accepted after an error, unlike in Kafka: RFC 7628 ends the exchange there.
        """
        if self._refused_for is not None:
            raise SaslAuthenticationError(INVALID_TOKEN, reason=self._refused_for)
        try:
            response = parse_initial_response(token)
        except InitialResponseError as error:
            raise SaslAuthenticationError(str(error)) from error
        try:
            found = self._validator.validate(response.token, wall_ms)
        except JwtValidatorError as error:
            self._refused_for = f"the token is refused: {error}"[:REASON_CHARACTERS_MAX]
            return INVALID_TOKEN.encode()
        if response.authorization_id not in ("", found.principal_name):
            raise SaslAuthenticationError(
                "Authentication failed: Client requested an authorization id that is different from the"
                " token's principal name"
            )
        principal = KafkaPrincipal("User", found.principal_name)
        self.authenticated = Authenticated(principal, expires_at_ms=found.expires_at_ms)
        return b""
