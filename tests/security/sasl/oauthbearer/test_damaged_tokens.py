"""Whatever an issuer publishes and a client sends: it is accepted or refused, and nothing else is raised."""

from __future__ import annotations

import json
import random
from typing import Any

from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.access_token import JwtValidatorError
from kraftctl_security.sasl.oauthbearer.client_token import read_client_token
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponse
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.oauthbearer_server import OAuthBearerSaslServer
from kraftctl_security.sasl.oauthbearer.verification_keys import (
    VerificationKeys,
    VerificationKeysError,
    parse_verification_keys,
)
from tests.support.effort import FIRST_SEED, scaled
from tests.support.token_issuer import SigningKey, claims_of, encoded, jwks

NOW = 1_800_000_000
KEYS = [SigningKey("rsa", "RS256"), SigningKey("ec"), SigningKey("ed", "EdDSA"), SigningKey("ps", "PS512")]
VALUES: list[Any] = [
    *(
        None,
        "",
        " ",
        "x",
        "AA",
        "AQAB",
        "RSA",
        "EC",
        "OKP",
        "oct",
        "P-521",
        "Ed448",
        "none",
        "ü",
        "\x00",
        "=" * 9,
    ),
    *(0, -1, 1.5, 2**70, True, [], ["x"], [None], {}, {"a": []}, "A" * 9_999, encoded(b"\xff" * 500)),
]
CONFIG = JwtValidatorConfig(
    expected_audiences=[],
    expected_issuer=None,
    clock_skew_seconds=30,
    scope_claim_name="scope",
    sub_claim_name="sub",
)


class Keys:
    def __init__(self, found: VerificationKeys) -> None:
        self._found = found

    def keys(self) -> VerificationKeys:
        return self._found

    def key_is_missing(self, key_id: str) -> None:
        """Nothing can be read anew."""

    def why_missing(self) -> str:
        return ""


def changed(rng: random.Random, parameters: dict[str, Any]) -> dict[str, Any]:
    names = [*parameters, "kty", "crv", "x5c", "x5t", "key_ops", "d", "p", "n", "crit", "b64", "cty", "aud"]
    return parameters | {rng.choice(names): rng.choice(VALUES) for _ in range(rng.randint(1, 2))}


def damaged(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    middle = rng.choice((b"", rng.randbytes(1), b"\x01", b".", b'"', b"{" * 5_000, data[:50]))
    return data[:place] + middle + data[place + rng.choice((0, 1, 20)) :]


def test_keys_are_read_or_refused() -> None:
    rng = random.Random(FIRST_SEED)
    read = refused = 0
    for _ in range(scaled(2_000)):
        keys = [changed(rng, rng.choice(KEYS).published) for _ in range(rng.randint(1, 2))]
        document = json.dumps({"keys": keys}).encode()
        try:
            parse_verification_keys(damaged(rng, document) if rng.random() < 0.3 else document)
            read += 1
        except VerificationKeysError:
            refused += 1
    assert read > scaled(100)
    assert refused > scaled(100)


def test_tokens_are_accepted_or_refused() -> None:
    rng = random.Random(FIRST_SEED)
    validator = JwtValidator(CONFIG, Keys(parse_verification_keys(jwks(*KEYS))))
    accepted = failed = 0
    for _ in range(scaled(2_000)):
        key = rng.choice(KEYS)
        claims: dict[str, Any] = claims_of("alice", NOW)
        header = changed(rng, {}) if rng.random() < 0.5 else {}
        token = key.sign(changed(rng, claims) if rng.random() < 0.5 else claims, **header)
        message = InitialResponse(token).to_bytes()
        server = OAuthBearerSaslServer(validator)
        try:
            server.evaluate(damaged(rng, message) if rng.random() < 0.3 else message, NOW * 1_000)
        except SaslAuthenticationError:
            failed += 1
        accepted += server.authenticated is not None
    assert accepted > scaled(100)
    assert failed > scaled(100)


def test_tokens_of_a_client_are_read_or_refused() -> None:
    rng = random.Random(FIRST_SEED)
    for _ in range(scaled(2_000)):
        token = KEYS[1].sign(changed(rng, claims_of("alice", NOW)))
        text = damaged(rng, token.encode()).decode(errors="replace")
        try:
            read_client_token(text, scope_claim_name="scope", sub_claim_name="sub")
        except JwtValidatorError:
            continue
