"""The side of a listener of OAUTHBEARER (RFC 7628), like Kafka's OAuthBearerSaslServer."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.access_token import JwtValidatorError
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponseError, parse_initial_response
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator

MECHANISM: Final = "OAUTHBEARER"

INVALID_TOKEN: Final = '{"status":"invalid_token"}'
"""A client sees only this about a token that is refused."""

REASON_CHARACTERS_MAX: Final = 300
"""The limit of a reason, because parts of it come from the token."""


class OAuthBearerSaslServer:
    """The listener's side of one authentication."""

    def __init__(self, validator: JwtValidator) -> None:
        self.authenticated: Authenticated | None = None
        self._validator = validator
        self._refused_for: str | None = None

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """Returns nothing for a valid token, else the error, which the client acknowledges before the
        exchange ends.

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
                "Authentication failed: the authorization id is not the principal of the token"
            )
        principal = KafkaPrincipal("User", found.principal_name)
        self.authenticated = Authenticated(principal, expires_at_ms=found.expires_at_ms)
        return b""
