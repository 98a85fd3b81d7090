"""The keys and claims of assertions, which prove to the issuer who a client is (KIP-1139, KIP-1258)."""

from __future__ import annotations

from typing import Final

from kraftctl_security.sasl.oauthbearer.json_object import JsonObject
from kraftctl_security.sasl.oauthbearer.oauthbearer_values import OAuthBearerValues

ALLOWED_FILES: Final = "org.apache.kafka.sasl.oauthbearer.allowed.files"
"""The key is a system property of the JVM in Kafka, like that of URLs (CVE-2025-27817). Empty by default."""

PREFIX: Final = "sasl.oauthbearer.assertion."
FILE: Final = f"{PREFIX}file"
CLAIM_ISS: Final = f"{PREFIX}claim.iss"

ALGORITHMS: Final = ("ES256", "RS256")


class SignedAssertion:
    """An assertion that is signed for each request. `passphrase` is that of the private key; None without
    one.

    `claims` are those of the keys; the file `template_file` may have more, and precedes them.
    """

    def __init__(
        self,
        *,
        algorithm: str,
        private_key_file: str,
        passphrase: str | None,
        claims: dict[str, str],
        template_file: str | None,
        valid_seconds: int,
        valid_before_seconds: int,
        has_id: bool,
    ) -> None:
        self.algorithm = algorithm
        self.private_key_file = private_key_file
        self.passphrase = passphrase
        self.claims = claims
        self.template_file = template_file
        self.valid_seconds = valid_seconds
        self.valid_before_seconds = valid_before_seconds
        self.has_id = has_id


class AssertionFile:
    """An assertion that another program signs. `path` is read for each request."""

    def __init__(self, path: str) -> None:
        self.path = path


def read_assertion(values: OAuthBearerValues) -> SignedAssertion | AssertionFile | None:
    """Returns None if something is wrong, which is noted. A file precedes the other keys, as in Kafka."""
    allowed = values.values.names(ALLOWED_FILES)
    if values.optional_text(FILE) is not None:
        path = _file(values, FILE, allowed)
        return None if path is None else AssertionFile(path)
    algorithm = values.text(f"{PREFIX}algorithm", "RS256").upper()
    if algorithm not in ALGORITHMS:
        values.refuse(f"{PREFIX}algorithm", algorithm, f"it must be one of {', '.join(ALGORITHMS)}")
    key_file, template_file = f"{PREFIX}private.key.file", f"{PREFIX}template.file"
    if not values.has(key_file):
        values.missing(key_file, f"assertions are signed with it, unless {FILE} has one")
    texts = {name: values.optional_text(f"{PREFIX}claim.{name}") for name in ("aud", "iss", "sub")}
    private_key_file = _file(values, key_file, allowed)
    found = SignedAssertion(
        algorithm=algorithm,
        private_key_file=private_key_file or "",
        passphrase=values.optional_text(f"{PREFIX}private.key.passphrase"),
        claims={name: text for name, text in texts.items() if text is not None},
        template_file=_file(values, template_file, allowed),
        valid_seconds=values.bounded_int32(f"{PREFIX}claim.exp.seconds", 300, at_least=0, at_most=86_400),
        valid_before_seconds=values.bounded_int32(
            f"{PREFIX}claim.nbf.seconds", 60, at_least=0, at_most=3_600
        ),
        has_id=values.boolean(f"{PREFIX}claim.jti.include", False),
    )
    return None if private_key_file is None else found


def assertion_header(config: SignedAssertion, template: JsonObject) -> JsonObject:
    """Returns the header; `template` is that of the template file, or empty. The algorithm is never the
    template's.
    """
    return {**template, "alg": config.algorithm, "typ": "JWT"}


def assertion_claims(config: SignedAssertion, template: JsonObject, *, now_ms: int, id: str) -> JsonObject:
    """Returns the claims; `template` is the `payload` of the template file, or empty; `id` may remain
    unused.
    """
    now = now_ms // 1_000
    times: JsonObject = {
        "iat": now,
        "exp": now + config.valid_seconds,
        "nbf": now - config.valid_before_seconds,
    }
    return {**config.claims, **template, **times, **({"jti": id} if config.has_id else {})}


def _file(values: OAuthBearerValues, key: str, allowed: list[str]) -> str | None:
    path = values.optional_text(key)
    if path is not None and path not in allowed:
        values.refuse(key, path, f"it is not in {ALLOWED_FILES}. Next step: add it if it is yours")
        return None
    return path
