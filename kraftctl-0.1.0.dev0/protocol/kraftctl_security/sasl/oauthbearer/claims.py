"""Checks the claims of a token like Kafka's ClaimValidationUtils, and jose4j as Kafka configures it."""

from __future__ import annotations

from typing import Final

from kraftctl_security.sasl.oauthbearer.access_token import AccessToken, JwtValidatorError
from kraftctl_security.sasl.oauthbearer.json_object import JsonObject

EXPIRATION: Final = "exp"
ISSUED_AT: Final = "iat"
NOT_BEFORE: Final = "nbf"

_JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
"""Java's String.trim removes these characters."""

SECONDS_MAX: Final = (2**63 - 1) // 1_000
"""Later times cannot be expressed as milliseconds in 64 bits."""


def text_claim(claims: JsonObject, name: str) -> str | None:
    """Returns None where the claim is missing or null. Raises JwtValidatorError."""
    value = claims.get(name)
    if value is not None and not isinstance(value, str):
        raise JwtValidatorError(f"the claim {name} is not a string")
    return value


def seconds_claim(claims: JsonObject, name: str) -> int | None:
    """Returns a NumericDate without its fraction, None where it is missing or null. Raises
    JwtValidatorError.
    """
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise JwtValidatorError(f"the claim {name} is not a number of seconds")
    if not -SECONDS_MAX <= value <= SECONDS_MAX:  # which is also false for an infinite number
        raise JwtValidatorError(f"the claim {name} is not a time: {value}")
    return int(value)


def check_audience(claims: JsonObject, expected: list[str]) -> None:
    """Refuses a token for other audiences, even if none is expected. Raises JwtValidatorError.

    As in Kafka, a token without an audience is accepted only where none is expected.
    """
    audience = claims.get("aud")
    if audience is None:
        if expected:
            raise JwtValidatorError(f"it has no claim aud, and needs one of {', '.join(expected)}")
        return
    named = [audience] if isinstance(audience, str) else audience
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        raise JwtValidatorError("the claim aud is neither a string nor a list of strings")
    if not any(each in expected for each in named):
        raise JwtValidatorError(
            f"its audience is {', '.join(named)}, and has to be one of sasl.oauthbearer.expected.audience:"
            f" {', '.join(expected) or 'none is set'}"
        )


def check_issuer(claims: JsonObject, expected: str | None) -> None:
    """Raises JwtValidatorError when the issuer is another one."""
    issuer = text_claim(claims, "iss")
    if expected is not None and issuer != expected:
        raise JwtValidatorError(
            f"its issuer is {issuer}, and has to be sasl.oauthbearer.expected.issuer: {expected}"
        )


def check_times(claims: JsonObject, *, clock_skew_seconds: int, wall_ms: int) -> None:
    """Raises JwtValidatorError for a token that is expired, not yet valid, or contradictory."""
    expires_at = seconds_claim(claims, EXPIRATION)
    issued_at = seconds_claim(claims, ISSUED_AT)
    not_before = seconds_claim(claims, NOT_BEFORE)
    if expires_at is None or issued_at is None:
        raise JwtValidatorError(f"it needs the claims {EXPIRATION} and {ISSUED_AT}")
    now = wall_ms // 1_000
    allowed = f"; {clock_skew_seconds} seconds of clock skew are allowed"
    if now - clock_skew_seconds >= expires_at:
        raise JwtValidatorError(f"it has expired at {expires_at}, and it is {now}{allowed}")
    if expires_at < issued_at or (not_before is not None and expires_at < not_before):
        raise JwtValidatorError("it expires before it is valid")
    if not_before is not None and now + clock_skew_seconds < not_before:
        raise JwtValidatorError(f"it is not valid before {not_before}, and it is {now}{allowed}")


def token_of_claims(claims: JsonObject, *, scope_claim_name: str, sub_claim_name: str) -> AccessToken:
    """Returns the token that these claims describe. Raises JwtValidatorError."""
    scope = claims.get(scope_claim_name)
    named = [scope] if isinstance(scope, str) else scope if isinstance(scope, list) else []
    scopes = [_text(scope_claim_name, each) for each in named]
    if len(set(scopes)) != len(scopes):
        raise JwtValidatorError(f"the claim {scope_claim_name} has a value twice")
    expires_at = seconds_claim(claims, EXPIRATION)
    issued_at = seconds_claim(claims, ISSUED_AT)
    if expires_at is None or expires_at < 0 or (issued_at is not None and issued_at < 0):
        raise JwtValidatorError(f"the claims {EXPIRATION} and {ISSUED_AT} must not be negative")
    return AccessToken(
        principal_name=_text(sub_claim_name, claims.get(sub_claim_name)),
        scopes=sorted(scopes),
        issued_at_ms=None if issued_at is None else issued_at * 1_000,
        expires_at_ms=expires_at * 1_000,
    )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise JwtValidatorError(f"the claim {name} needs a string")
    trimmed = value.strip(_JAVA_BLANKS)
    if not trimmed:
        raise JwtValidatorError(f"the claim {name} is blank")
    return trimmed
