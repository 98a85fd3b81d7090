"""Clients that prove who they are by an assertion: KIP-1139 (jwt-bearer), KIP-1258 (client credentials)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.issuer.token_endpoint import TokenEndpointError, fetch_token
from kraftctl_security.sasl.oauthbearer.assertion_config import ALLOWED_FILES
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import (
    JWT_BEARER_RETRIEVER,
    LOGIN_HANDLERS,
    OAuthBearerClientConfig,
    read_client_config,
)
from tests.support.https_issuer import HttpsIssuer
from tests.support.token_issuer import SigningKey

PREFIX = "sasl.oauthbearer.assertion."


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[HttpsIssuer]:
    with HttpsIssuer(tmp_path, {}) as found:
        yield found


def write_key(file: Path, key: SigningKey, passphrase: str | None = None) -> None:
    secret = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase.encode())
    file.write_bytes(key.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))


def config(issuer: HttpsIssuer, files: list[Path], **others: str) -> OAuthBearerClientConfig:
    """`others` has underscores for dots, after `sasl.oauthbearer.assertion.` or `sasl.oauthbearer.`."""
    properties = {
        "sasl.login.callback.handler.class": LOGIN_HANDLERS[0],
        "sasl.oauthbearer.token.endpoint.url": issuer.token_url,
        "sasl.oauthbearer.scope": "a b",
        ALLOWED_URLS: issuer.token_url,
        ALLOWED_FILES: ",".join(map(str, files)),
    }
    for name, text in others.items():
        dotted = name.replace("_", ".")
        prefix = "sasl.oauthbearer." if dotted.startswith(("jwt", "client.cred")) else PREFIX
        properties[prefix + dotted] = text
    values = ConfigValues(properties)
    options = {"ssl.truststore.location": str(issuer.truststore), "ssl.truststore.type": "PEM"}
    found = read_client_config(values, None, options)
    values.raise_errors()
    assert found is not None
    return found


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
@pytest.mark.parametrize("jwt_bearer", [False, True], ids=["client-credentials", "jwt-bearer"])
def test_a_signed_assertion_is_exchanged_for_a_token(
    algorithm: str, jwt_bearer: bool, issuer: HttpsIssuer, tmp_path: Path
) -> None:
    issuer.client_key = SigningKey("client", algorithm)
    key, template = tmp_path / "key.pem", tmp_path / "template.json"
    write_key(key, issuer.client_key, "passphrase")
    template.write_text(json.dumps({"header": {"kid": "7", "alg": "none"}, "payload": {"team": 5, "exp": 1}}))
    others = {"jwt_retriever_class": JWT_BEARER_RETRIEVER} if jwt_bearer else {}
    found = config(
        issuer,
        [key, template],
        algorithm=algorithm,
        private_key_file=str(key),
        private_key_passphrase="passphrase",
        template_file=str(template),
        claim_iss="kraftctl",
        claim_sub="controller",
        claim_aud=issuer.token_url,
        claim_exp_seconds="60",
        claim_jti_include="true",
        **others,
    )
    before = int(time.time())
    token = fetch_token(found).token
    assert (token.principal_name, token.scopes) == ("controller", ["a b"])
    (assertion,) = issuer.assertions
    claims = assertion["claims"]
    assert (assertion["alg"], assertion["kid"], assertion["typ"]) == (algorithm, "7", "JWT")
    assert (claims["iss"], claims["sub"], claims["team"]) == ("kraftctl", "controller", 5)
    assert before <= claims["iat"] <= before + 30
    assert (claims["exp"], claims["nbf"]) == (claims["iat"] + 60, claims["iat"] - 60)
    assert len(claims["jti"]) == 36


def test_an_assertion_that_another_program_signs_is_read_each_time(
    issuer: HttpsIssuer, tmp_path: Path
) -> None:
    file = tmp_path / "assertion"
    found = config(issuer, [file], file=str(file))
    for name in ("first", "second"):
        now = int(time.time())
        claims = {"sub": name, "aud": issuer.token_url, "exp": now + 60}
        file.write_text(issuer.client_key.sign(claims) + "\n")
        assert fetch_token(found).token.principal_name == name


def test_an_assertion_of_another_key_is_refused(issuer: HttpsIssuer, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    write_key(key, SigningKey("other"))
    found = config(
        issuer,
        [key],
        algorithm="ES256",
        private_key_file=str(key),
        claim_iss="kraftctl",
        claim_aud=issuer.token_url,
    )
    with pytest.raises(TokenEndpointError, match="401: invalid_client - Signature verification failed"):
        fetch_token(found)


@pytest.mark.parametrize(
    ("content", "algorithm", "passphrase", "reason"),
    [
        (None, "ES256", None, "No such file"),
        ("no key", "ES256", None, "no private key that can be read"),
        ("key", "ES256", "wrong", "no private key that can be read"),
        ("encrypted", "ES256", None, "no private key that can be read"),
        ("key", "RS256", None, "is not for RS256"),
        ("p384", "ES256", None, "is not for ES256"),
    ],
)
def test_keys_that_cannot_sign(
    content: str | None,
    algorithm: str,
    passphrase: str | None,
    reason: str,
    issuer: HttpsIssuer,
    tmp_path: Path,
) -> None:
    key = tmp_path / "key.pem"
    if content == "no key":
        key.write_text(content)
    elif content is not None:
        signing = SigningKey("k", "ES384" if content == "p384" else "ES256")
        write_key(key, signing, "secret" if content == "encrypted" else None)
    others = {} if passphrase is None else {"private_key_passphrase": passphrase}
    found = config(issuer, [key], algorithm=algorithm, private_key_file=str(key), claim_iss="me", **others)
    with pytest.raises(TokenEndpointError, match=reason):
        fetch_token(found)
    assert issuer.requests == []
