"""Which tokens are accepted: signature, key, claims. An oracle beside it asks Kafka's classes."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from kraftctl_security.sasl.oauthbearer.access_token import JwtValidatorError
from kraftctl_security.sasl.oauthbearer.jwt_validator import (
    TOKEN_CHARACTERS_MAX,
    JwtValidator,
)
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.verification_keys import (
    KEYS_MAX,
    VerificationKeys,
    VerificationKeysError,
    parse_verification_keys,
)
from tests.support.certificates import Authority
from tests.support.token_issuer import SigningKey, claims_of, encoded, hmac_token, jwks, private_key

NOW = 1_800_000_000
RSA, EC = SigningKey("rsa", "RS256"), SigningKey("ec", "ES256")
OTHER = SigningKey("ec", "ES256")
"""It has the id of a key of the issuer, and is none."""


class Keys:
    """A source of keys that notes which were missing."""

    def __init__(self, document: bytes | None) -> None:
        self.missing: list[str] = []
        self._keys = None if document is None else parse_verification_keys(document)

    def keys(self) -> VerificationKeys | None:
        return self._keys

    def key_is_missing(self, key_id: str) -> None:
        self.missing.append(key_id)

    def why_missing(self) -> str:
        return "the issuer does not answer"


def config(**changes: Any) -> JwtValidatorConfig:
    values: dict[str, Any] = {
        "expected_audiences": ["kafka"],
        "expected_issuer": "https://issuer",
        "clock_skew_seconds": 30,
        "scope_claim_name": "scope",
        "sub_claim_name": "sub",
    }
    return JwtValidatorConfig(**values | changes)


def claims(**changes: Any) -> dict[str, Any]:
    return claims_of("alice", NOW, **{"iss": "https://issuer", "aud": "kafka"} | changes)


def validate(token: str, keys: Keys | None = None, **changes: Any) -> Any:
    validator = JwtValidator(config(**changes), keys or Keys(jwks(RSA, EC)))
    return validator.validate(token, NOW * 1_000 + 999)


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "ES256", "ES384", "ES512", "EdDSA"])
def test_a_token_of_each_algorithm(algorithm: str) -> None:
    key = SigningKey("k", algorithm)
    found = validate(key.sign(claims(scope=["b", "a "])), Keys(jwks(RSA, key)))
    assert (found.principal_name, found.scopes) == ("alice", ["a", "b"])
    assert (found.issued_at_ms, found.expires_at_ms) == (NOW * 1_000, (NOW + 3_600) * 1_000)


def without_signature(algorithm: str) -> str:
    header = {"alg": algorithm, "kid": "ec"}
    return f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(claims()).encode())}."


PUBLIC = EC.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
SECRET = {"kty": "oct", "kid": "shared", "k": encoded(b"s" * 32)}
HEADER_KEY = {name: OTHER.published[name] for name in ("kty", "crv", "x", "y")}
TAMPERED = EC.sign(claims()).split(".")

REFUSED = {
    "none": (without_signature("none"), "has the algorithm none"),
    "none-in-capitals": (without_signature("NONE"), "has the algorithm NONE"),
    "no-signature": (without_signature("ES256"), "signature with key ec is not valid"),
    "hmac-of-the-public-key": (hmac_token(claims(), PUBLIC, kid="ec"), "has the algorithm HS256"),
    "hmac-of-a-published-secret": (hmac_token(claims(), b"s" * 32, kid="shared"), "has the algorithm HS256"),
    "other-key": (OTHER.sign(claims()), "signature with key ec is not valid"),
    "other-claims": (
        ".".join((TAMPERED[0], encoded(json.dumps(claims(sub="admin")).encode()), TAMPERED[2])),
        "signature with key ec is not valid",
    ),
    "key-in-the-header": (OTHER.sign(claims(), jwk=HEADER_KEY), "signature with key ec is not valid"),
    "key-in-the-header-alone": (OTHER.sign(claims(), kid="new", jwk=HEADER_KEY), "has no key new"),
    "url-of-keys-in-the-header": (OTHER.sign(claims(), kid="new", jku="https://evil"), "has no key new"),
    "url-of-a-certificate": (OTHER.sign(claims(), kid="new", x5u="https://evil"), "has no key new"),
    "unknown-key-id": (EC.sign(claims(), kid="gone"), "has no key gone for ES256"),
    "key-id-of-another-algorithm": (EC.sign(claims(), kid="rsa"), "has no key rsa for ES256"),
    "key-id-is-a-number": (EC.sign(claims(), kid=5), "kid is not a string"),
    "critical-parameter": (EC.sign(claims(), crit=["exp"], exp=1), "critical parameters"),
    "payload-outside": (EC.sign(claims(), crit=["b64"], b64=False), "critical parameters"),
    "payload-outside-not-critical": (EC.sign(claims(), b64=False), "is not valid"),
    "nested": (EC.sign(claims(), cty="JWT"), "a JWT inside of another"),
    "two-parts": (EC.sign(claims()).rpartition(".")[0], "three parts"),
    "five-parts": ("a.b.c.d.e", "three parts"),
    "header-with-a-name-twice": (
        encoded(b'{"alg":"ES256","kid":"ec","kid":"ec"}') + EC.sign(claims())[len(TAMPERED[0]) :],
        "its header cannot be read",
    ),
    "claims-with-a-name-twice": (EC.sign(b'{"sub":"a","sub":"b"}'), "its claims cannot be read"),
    "claims-are-a-list": (EC.sign(b"[]"), "its claims cannot be read"),
    "long": ("a" * (TOKEN_CHARACTERS_MAX + 1), "at most 65536"),
    "expired": (EC.sign(claims(iat=NOW - 100, exp=NOW - 30)), "it has expired"),
    "no-end": (EC.sign(claims(exp=None)), "it needs the claims exp and iat"),
    "no-begin": (EC.sign(claims(iat=None)), "it needs the claims exp and iat"),
    "end-is-text": (EC.sign(claims(exp=str(NOW + 9))), "exp is not a number"),
    "end-is-true": (EC.sign(claims(exp=True)), "exp is not a number"),
    "end-is-too-late": (EC.sign(claims(exp=2**62)), "exp is not a time"),
    "ends-before-it-begins": (EC.sign(claims(iat=NOW + 10, exp=NOW + 9)), "expires before it is valid"),
    "not-yet-valid": (EC.sign(claims(nbf=NOW + 31)), "not valid before"),
    "issued-before-1970": (EC.sign(claims(iat=-1)), "must not be negative"),
    "no-audience": (EC.sign(claims(aud=None)), "no claim aud"),
    "other-audience": (EC.sign(claims(aud=["mail", "web"])), "its audience is mail, web"),
    "audience-is-a-number": (EC.sign(claims(aud=5)), "aud is neither"),
    "no-issuer": (EC.sign(claims(iss=None)), "its issuer is None"),
    "other-issuer": (EC.sign(claims(iss="https://issuer/")), "its issuer is https://issuer/,"),
    "no-name": (EC.sign(claims(sub=None)), "the claim sub needs a string"),
    "blank-name": (EC.sign(claims(sub=" \t")), "the claim sub is blank"),
    "name-is-a-number": (EC.sign(claims(sub=5)), "the claim sub is not a string"),
    "scope-twice": (EC.sign(claims(scope=["a", "a "])), "scope has a value twice"),
    "blank-scope": (EC.sign(claims(scope="")), "the claim scope is blank"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_tokens(name: str) -> None:
    token, reason = REFUSED[name]
    document = json.dumps({"keys": [RSA.published, EC.published, SECRET]}).encode()
    with pytest.raises(JwtValidatorError, match=reason):
        validate(token, Keys(document))


@pytest.mark.parametrize(
    ("changes", "settings"),
    [
        pytest.param({"exp": NOW - 29, "iat": 0}, {}, id="expired-within-the-clock-skew"),
        pytest.param({"nbf": NOW + 30}, {}, id="not-yet-valid-within-the-clock-skew"),
        pytest.param({"exp": NOW + 1.5}, {}, id="fraction-of-a-second"),
        pytest.param({"aud": ["web", "kafka"]}, {}, id="one-of-several-audiences"),
        pytest.param({"aud": None}, {"expected_audiences": []}, id="no-audience-expected"),
        pytest.param({"iss": None}, {"expected_issuer": None}, id="no-issuer-expected"),
        pytest.param({"scope": None}, {}, id="no-scope"),
        pytest.param({"scope": "read write"}, {}, id="a-scope-with-a-blank-is-one"),
        pytest.param({"iat": NOW + 900}, {}, id="issued-in-the-future-as-in-kafka"),
        pytest.param({"sub": " alice\n"}, {}, id="blanks-around-the-name"),
        pytest.param({"sub": "x", "name": "alice"}, {"sub_claim_name": "name"}, id="name-in-another-claim"),
    ],
)
def test_accepted_claims(changes: dict[str, Any], settings: dict[str, Any]) -> None:
    assert validate(EC.sign(claims(**changes)), **settings).principal_name == "alice"


def test_an_audience_is_refused_where_none_is_expected() -> None:
    """As in Kafka: the token is meant for somebody else."""
    with pytest.raises(JwtValidatorError, match=r"expected\.audience: none is set"):
        validate(EC.sign(claims()), expected_audiences=[])


def test_a_token_without_key_id_is_verified_with_the_key_of_its_type() -> None:
    """As in Kafka: the first that may be meant, and no other."""
    first, second = SigningKey("1", "ES384"), SigningKey("2", "ES256")
    signature, encryption = SigningKey("3", "ES256"), SigningKey("0", "ES256", use="enc")
    keys = Keys(jwks(encryption, RSA, first, second, signature))
    assert validate(second.sign(claims(), kid=None), keys).principal_name == "alice"
    for other in (signature, encryption):
        with pytest.raises(JwtValidatorError, match="signature with key 2"):
            validate(other.sign(claims(), kid=None), keys)


def test_thumbprints_select_a_key() -> None:
    identity = Authority().issue("CN=Issuer")
    certificate = identity.chain[0].public_bytes(Encoding.DER)
    one = SigningKey("1", x5t="one")
    two = SigningKey("2", "ES256", identity.key, x5c=[base64.b64encode(certificate).decode()])
    keys = Keys(jwks(one, two))
    thumbprint = encoded(hashlib.sha256(certificate).digest())
    named: dict[str, Any] = {"kid": None, "x5t": "one"}
    assert validate(one.sign(claims(), **named), keys).principal_name == "alice"
    named = {"kid": None, "x5t": "other", "x5t#S256": thumbprint}
    with pytest.raises(JwtValidatorError, match="has no key None"):
        validate(two.sign(claims(), **named), keys)
    named = {"kid": "2", "x5t#S256": thumbprint}
    assert validate(two.sign(claims(), **named), keys).principal_name == "alice"


def test_only_an_unknown_key_id_asks_for_new_keys() -> None:
    keys = Keys(jwks(RSA, EC))
    for token in (EC.sign(claims(), kid="new"), EC.sign(b"", kid=None, alg="ES384"), OTHER.sign(claims())):
        with pytest.raises(JwtValidatorError):
            validate(token, keys)
    with pytest.raises(JwtValidatorError):
        validate(EC.sign(claims(), kid="rsa"), keys)
    assert keys.missing == ["new"]


def test_before_the_keys_are_there() -> None:
    with pytest.raises(JwtValidatorError, match="no keys of the issuer yet: the issuer does not answer"):
        validate(EC.sign(claims()), Keys(None))


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "it is no JWKS"),
        (b"[]", "its JSON is not an object"),
        (b"{}", "no list of keys"),
        (b'{"keys": []}', "none of its 0 keys"),
        (
            b'{"keys": [5, {"kty": "oct", "k": "aGk"}, {"kty": "RSA", "n": "AQ", "e": "AQAB"}]}',
            "none of its 3",
        ),
        (b'{"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]}', "none of its 1 keys"),
        (b'{"keys": [' + b"5," * KEYS_MAX + b"5]}", "at most 1000"),
        (jwks(SigningKey("short", "RS256", private_key("RS256", 1_024))), "none of its 1 keys"),
    ],
)
def test_documents_without_keys(document: bytes, reason: str) -> None:
    with pytest.raises(VerificationKeysError, match=reason):
        parse_verification_keys(document)


def test_a_key_that_cannot_be_used_is_left_out() -> None:
    document = json.dumps({"keys": [SECRET, {"kty": "EC", "crv": "P-1"}, EC.published]}).encode()
    assert validate(EC.sign(claims()), Keys(document)).principal_name == "alice"
