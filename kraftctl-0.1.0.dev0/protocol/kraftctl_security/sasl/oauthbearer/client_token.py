"""Reads a client's own token, as Kafka's ClientJwtValidator does: no signature is verified."""

from __future__ import annotations

import base64
import binascii

from kraftctl_security.sasl.oauthbearer.access_token import AccessToken, JwtValidatorError
from kraftctl_security.sasl.oauthbearer.claims import token_of_claims
from kraftctl_security.sasl.oauthbearer.json_object import JsonObjectError, parse_json_object


def read_client_token(token: str, *, scope_claim_name: str, sub_claim_name: str) -> AccessToken:
    """Parses the token. Raises JwtValidatorError, whose text has nothing of the token."""
    parts = token.split(".")
    if len(parts) != 3 or not token.isascii():
        raise JwtValidatorError("it is not a signed JWT, which has three parts")
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        claims = parse_json_object(payload)
    except (binascii.Error, JsonObjectError) as error:
        raise JwtValidatorError("its claims cannot be read") from error
    return token_of_claims(claims, scope_claim_name=scope_claim_name, sub_claim_name=sub_claim_name)
