"""Checks that a JWT is one of the issuer's and still valid, as Kafka's BrokerJwtValidator does (KIP-768)."""

from __future__ import annotations

import base64
import binascii
from typing import Final, Protocol

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from kraftctl_security.sasl.oauthbearer.access_token import AccessToken, JwtValidatorError
from kraftctl_security.sasl.oauthbearer.claims import (
    check_audience,
    check_issuer,
    check_times,
    text_claim,
    token_of_claims,
)
from kraftctl_security.sasl.oauthbearer.json_object import JsonObject, JsonObjectError, parse_json_object
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.verification_keys import (
    KEY_TYPES,
    VerificationKey,
    VerificationKeys,
    VerificationKeysError,
)

_JWS: Final = PyJWS(algorithms=sorted(KEY_TYPES))

TOKEN_CHARACTERS_MAX: Final = 64 * 1024
"""The limit of a listener. Tokens have a few thousand characters."""

NESTED: Final = ("jwt", "application/jwt")
"""The content types of a JWT whose claims are in another JWT."""


class KeySource(Protocol):
    """Keeps the keys of the issuer, and returns them without waiting."""

    def keys(self) -> VerificationKeys | None:
        """Returns None until the keys are there for the first time."""
        ...

    def key_is_missing(self, key_id: str) -> None:
        """Notes that a token names a missing key: the keys may have been rotated."""
        ...

    def why_missing(self) -> str:
        """Returns the failed attempt that explains why there are no keys."""
        ...


class JwtValidator:
    """Validates tokens with the keys of one issuer."""

    def __init__(self, config: JwtValidatorConfig, source: KeySource) -> None:
        self._config = config
        self._source = source

    def validate(self, token: str, wall_ms: int) -> AccessToken:
        """Returns the claims of a valid token. Raises JwtValidatorError."""
        if len(token) > TOKEN_CHARACTERS_MAX:
            raise JwtValidatorError(f"it has {len(token)} characters, and at most {TOKEN_CHARACTERS_MAX}")
        key, algorithm = self._key_of(token)
        try:
            # Only what the signature covers is read from here on.
            payload = _JWS.decode_complete(token, key.public_key, algorithms=[algorithm])["payload"]
            claims = parse_json_object(payload)
        except (PyJWTError, ValueError, TypeError) as error:
            raise JwtValidatorError(f"its signature with key {key.id} is not valid: {error}") from error
        except JsonObjectError as error:
            raise JwtValidatorError(f"its claims cannot be read: {error}") from error
        for name in ("sub", "jti"):
            text_claim(claims, name)
        check_issuer(claims, self._config.expected_issuer)
        check_audience(claims, self._config.expected_audiences)
        check_times(claims, clock_skew_seconds=self._config.clock_skew_seconds, wall_ms=wall_ms)
        return token_of_claims(
            claims,
            scope_claim_name=self._config.scope_claim_name,
            sub_claim_name=self._config.sub_claim_name,
        )

    def _key_of(self, token: str) -> tuple[VerificationKey, str]:
        """Returns the key of the issuer that the header names, and the algorithm to verify with."""
        header = _header(token)
        algorithm = header.get("alg")
        if not isinstance(algorithm, str) or algorithm not in KEY_TYPES:
            raise JwtValidatorError(
                f"its signature has the algorithm {algorithm}, and has to have one of {', '.join(KEY_TYPES)}"
            )
        keys = self._source.keys()
        if keys is None:
            raise JwtValidatorError(f"there are no keys of the issuer yet: {self._source.why_missing()}")
        try:
            found = keys.select(header, algorithm)
        except VerificationKeysError as error:
            raise JwtValidatorError(f"its header is not valid: {error}") from error
        if found is None:
            key_id = header.get("kid")
            if isinstance(key_id, str) and key_id not in keys.ids:
                self._source.key_is_missing(key_id)
            raise JwtValidatorError(f"the issuer has no key {key_id} for {algorithm}")
        return found, algorithm


def _header(token: str) -> JsonObject:
    """Parses the header, which cannot be trusted before the signature is verified. Raises
    JwtValidatorError.
    """
    encoded, *others = token.split(".")
    if len(others) != 2:
        raise JwtValidatorError("it is not a signed JWT, which has three parts")
    try:
        header = parse_json_object(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    except (binascii.Error, JsonObjectError) as error:
        raise JwtValidatorError(f"its header cannot be read: {error}") from error
    if "crit" in header:
        raise JwtValidatorError("its header has critical parameters, and none is supported")
    if str(header.get("cty")).lower() in NESTED:
        raise JwtValidatorError("a JWT inside of another is not supported")
    return header
