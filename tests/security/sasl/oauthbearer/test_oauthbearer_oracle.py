"""Kafka's own OAuthBearerSaslServer and BrokerJwtValidator accept the same first messages and tokens."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponse
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.oauthbearer_server import INVALID_TOKEN, OAuthBearerSaslServer
from kraftctl_security.sasl.oauthbearer.verification_keys import VerificationKeys, parse_verification_keys
from tests.support.certificates import Authority
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.kafka import kafka
from tests.support.token_issuer import SigningKey, claims_of, encoded

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "OAuthBearerOracle.java"

CLOCK_SKEW_SECONDS = 300
"""Times of random tokens are far enough from the limits: both sides have a clock."""

IDENTITY = Authority().issue("CN=Issuer", kind="RSA")
CERTIFICATE = base64.b64encode(IDENTITY.chain[0].public_bytes(Encoding.DER)).decode()

ISSUER = [
    SigningKey("rsa", "RS256"),
    SigningKey("rsa", "PS384"),
    SigningKey("rsa-2", "RS512", use="enc"),
    SigningKey("ec", "ES256", alg=None),
    SigningKey("ec-2", "ES256", key_ops=["verify"], use=None),
    SigningKey("ec-3", "ES384", key_ops=["sign"]),
    SigningKey("p384", "ES384", alg=None, use=None, x5t="thumbprint"),
    SigningKey("p521", "ES512"),
    SigningKey("certified", "RS256", IDENTITY.key, x5c=[CERTIFICATE]),
    SigningKey("certified-2", "ES256", x5c=[CERTIFICATE]),
    SigningKey("certified-3", "ES256", x5c=[base64.b64encode(b"no certificate").decode()]),
    SigningKey("ed", "EdDSA"),
    SigningKey(None, "RS384", use=None),
]
STRANGERS = [SigningKey("ec", "ES256"), SigningKey("gone", "RS256")]

HEADERS: list[dict[str, Any]] = [
    *([{}] * 20),
    {"kid": None},
    {"kid": ""},
    {"kid": "gone"},
    {"kid": 7},
    {"alg": "none"},
    {"alg": "RS256"},
    {"alg": "es256"},
    {"alg": 5},
    {"typ": "at+jwt"},
    {"typ": None},
    {"cty": "JWT"},
    {"crit": ["exp"]},
    {"b64": False},
    {"b64": True},
    {"x5t": "thumbprint"},
    {"x5t": "other"},
    {"x5t#S256": "other"},
    {"jku": "https://127.0.0.1:1/"},
    {"jwk": STRANGERS[0].published},
    {"zip": "DEF"},
]

Claim = tuple[str, list[Any]]


def claim_choices(now: int) -> list[Claim]:
    times = [now, now + 3_600, now - 3_600, now - 100, 0, -1, 1e9, now + 0.5, now + 4e9, 2**53, 2**62]
    odd: list[Any] = [None, "", " ", "x", 5, True, [], {}, [5], ["x"], 1e400, -(2**70)]
    return [
        ("exp", times + odd),
        ("iat", times + odd),
        ("nbf", times + odd),
        ("sub", ["alice", " bob ", "ü\n", "\u2003", "a,b=c", "\x1f", *odd]),
        ("aud", ["kafka", ["kafka"], ["a", "kafka"], ["a"], ["kafka", 5], *odd]),
        ("iss", ["https://issuer", "https://other", *odd]),
        ("jti", ["1", *odd]),
        ("scope", ["a b", ["a", "b"], ["a", "a"], ["a", " a"], ["a", ""], *odd]),
        ("other", [{"a": [1, {"b": None}]}, "ü", 1.5, -0.0, 2**70]),
    ]


def random_token(rng: random.Random, now: int, *, good: dict[str, Any]) -> str:
    key = rng.choice([*ISSUER, *ISSUER, *STRANGERS])
    claims = claims_of("alice", now, **good)
    choices = claim_choices(now)
    for _ in range(rng.choice((0, 1, 1, 2))):
        name, values = rng.choice(choices)
        claims[name] = rng.choice(values)
    token = key.sign(json.dumps(claims, ensure_ascii=rng.random() < 0.5).encode(), **rng.choice(HEADERS))
    return damaged(rng, token) if rng.random() < 0.1 else token


def damaged(rng: random.Random, token: str) -> str:
    header, payload, signature = token.split(".")
    return rng.choice(
        (
            f"{header}.{payload}.",
            f"{header}..{signature}",
            f".{payload}.{signature}",
            f"{header}.{payload}",
            f"{header}.{payload}.{signature}.",
            f"{header}.{payload}.{signature}.{signature}.{signature}",
            f"{header}.{payload}.{encoded(bytes(64))}",
            f"{header}.{payload}.{signature[:-6]}",
            f"{header}.{encoded(b'[]')}.{signature}",
            f"{header}.{encoded(b'not json')}.{signature}",
            f"{encoded(b'{}')}.{payload}.{signature}",
        )
    )


def random_message(rng: random.Random, now: int, *, good: dict[str, Any]) -> bytes:
    token = random_token(rng, now, good=good)
    if rng.random() < 0.8:
        return InitialResponse(token).to_bytes()
    prefix = rng.choice(
        ("n,,", "n,a=alice,", "n,a=bob,", "n,a=,", "y,,", "p=tls,,", "n,a=a=2Cb,", "n,a=a=b,", "")
    )
    auth = rng.choice(("Bearer", "bearer", "BEARER", "Basic", "Bearer ", "", "Bearer_")) + " " + token
    good_pairs, odd_pairs = (
        ["a=b", "Host=x y\t", "traceId=1"],
        ["a=", "=b", "a1=b", "a=\x7f", "a=é", "auth=x", "ab"],
    )
    pairs = [f"auth={auth}", *rng.sample(good_pairs, rng.randint(0, 2))]
    if rng.random() < 0.3:
        pairs.append(rng.choice(odd_pairs))
    if rng.random() < 0.1:
        pairs.pop(0)
    rng.shuffle(pairs)
    end = rng.choice(("\x01\x01", "\x01\x01", "\x01\x01", "\x01", "", "\x01\x01\x01"))
    return f"{prefix}\x01{chr(1).join(pairs)}{end}".encode()


class Keys:
    """The keys of the issuer."""

    def __init__(self, found: VerificationKeys) -> None:
        self._found = found

    def keys(self) -> VerificationKeys:
        return self._found

    def key_is_missing(self, key_id: str) -> None:
        """Nothing can be read anew."""

    def why_missing(self) -> str:
        return ""


def ours(validator: JwtValidator, message: bytes, wall_ms: int) -> str:
    server = OAuthBearerSaslServer(validator)
    try:
        answer = server.evaluate(message, wall_ms)
    except SaslAuthenticationError:
        return "failed"
    if server.authenticated is None:
        assert answer == INVALID_TOKEN.encode()
        return "refused"
    name = base64.b64encode(server.authenticated.principal.name.encode()).decode()
    return f"={name}:{server.authenticated.expires_at_ms}"


def ask(lines: list[str]) -> list[str]:
    command = [kafka().java, "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", kafka().classpath, str(ORACLE)]
    done = subprocess.run(
        command, input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True
    )
    answers = [
        line for line in done.stdout.split("\n") if line.startswith(("=", "refused", "failed", "crashed"))
    ]
    assert len(answers) == len(lines) - 1, done.stdout[-2_000:]
    return answers


@pytest.mark.parametrize(
    ("audience", "issuer", "good"),
    [("kafka,other", "https://issuer", {"aud": "kafka", "iss": "https://issuer"}), ("", "", {})],
    ids=["audience-and-issuer", "nothing-expected"],
)
def test_the_same_messages_are_accepted(
    audience: str, issuer: str, good: dict[str, Any], tmp_path: Path
) -> None:
    rng = random.Random(FIRST_SEED)
    now = int(time.time())
    document = json.dumps({"keys": [*(each.published for each in ISSUER), {"kty": "x"}]}).encode()
    file = tmp_path / "jwks.json"
    file.write_bytes(document)
    messages = [random_message(rng, now, good=good) for _ in range(scaled(500))]
    settings = f"{file}\t{CLOCK_SKEW_SECONDS}\t{audience}\t{issuer}"
    theirs = ask([settings, *(base64.b64encode(each).decode() for each in messages)])
    config = JwtValidatorConfig(
        expected_audiences=audience.split(",") if audience else [],
        expected_issuer=issuer or None,
        clock_skew_seconds=CLOCK_SKEW_SECONDS,
        scope_claim_name="scope",
        sub_claim_name="sub",
    )
    validator = JwtValidator(config, Keys(parse_verification_keys(document)))
    found = [ours(validator, each, now * 1_000) for each in messages]
    different = [
        f"{message!r}: Kafka {answer}, here {verdict}"
        for message, answer, verdict in zip(messages, theirs, found, strict=True)
        if answer != verdict and not (answer == "crashed" and not verdict.startswith("="))
    ]
    assert not different, "\n".join(different[:20]) + f"\n{len(different)} in all"
    assert sum(each.startswith("=") for each in theirs) > len(messages) / 8
    assert theirs.count("refused") > len(messages) / 5
    assert theirs.count("failed") > len(messages) / 50
