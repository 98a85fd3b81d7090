"""Keys of an issuer that answers, does not, changes its keys, or sends something else."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.issuer import https_exchange, jwks_endpoint
from kraftctl_security.issuer.jwks_endpoint import KEY_ID_CHARACTERS_MAX, JwksEndpoint
from kraftctl_security.sasl.oauthbearer.access_token import JwtValidatorError
from kraftctl_security.sasl.oauthbearer.issuer_url import IssuerUrl
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import JwksConfig
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from tests.support.certificates import Authority
from tests.support.https_issuer import HttpsIssuer
from tests.support.token_issuer import SigningKey, jwks

VALIDATOR = JwtValidatorConfig(
    expected_audiences=["kafka"],
    expected_issuer=None,
    clock_skew_seconds=30,
    scope_claim_name="scope",
    sub_claim_name="sub",
)


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[HttpsIssuer]:
    with HttpsIssuer(tmp_path, {}) as found:
        yield found


def endpoint(url: str, truststore: Path | None, refresh_ms: int = 3_600_000) -> JwksEndpoint:
    keys = {} if truststore is None else {"location": str(truststore), "type": "PEM"}
    values = ConfigValues({f"ssl.truststore.{name}": text for name, text in keys.items()})
    return JwksEndpoint(
        JwksConfig(
            url=IssuerUrl(url),
            ssl=read_client_ssl_config(values),
            refresh_ms=refresh_ms,
            retry_backoff_ms=100,
            retry_backoff_max_ms=200,
        )
    )


def is_valid(keys: JwksEndpoint, token: str) -> bool:
    try:
        return JwtValidator(VALIDATOR, keys).validate(token, time.time_ns() // 1_000_000) is not None
    except JwtValidatorError:
        return False


@pytest.fixture
def started(issuer: HttpsIssuer) -> Iterator[JwksEndpoint]:
    found = endpoint(issuer.jwks_url, issuer.truststore)
    found.start()
    yield found
    found.close()


def test_keys_are_read_at_start(issuer: HttpsIssuer, started: JwksEndpoint) -> None:
    await_result(lambda: is_valid(started, issuer.token("alice")), "the keys are read", 20.0)
    assert not is_valid(started, SigningKey("first").sign({}))
    assert issuer.requests == ["/jwks"]


def test_a_rotated_key_is_read_early_but_not_for_each_token(
    issuer: HttpsIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jwks_endpoint, "EARLY_REFRESH_MS_MIN", 1_000)
    keys = endpoint(issuer.jwks_url, issuer.truststore)
    keys.start()
    try:
        await_result(lambda: is_valid(keys, issuer.token("alice")), "the keys are read", 20.0)
        issuer.rotate("second")
        began_s = time.monotonic()
        await_result(lambda: is_valid(keys, issuer.token("alice")), "the new key is read", 20.0)
        for number in range(1_000):
            keys.key_is_missing(f"unknown-{number}")
        issuer.await_requests("/jwks", 3)
        allowed = 2 + (time.monotonic() - began_s) / 1.0
        assert issuer.requests.count("/jwks") <= allowed
    finally:
        keys.close()


def test_a_key_id_that_is_too_long_is_no_reason_to_read(started: JwksEndpoint) -> None:
    started.key_is_missing("x" * (KEY_ID_CHARACTERS_MAX + 1))
    assert not started._early


def test_keys_are_read_at_intervals(issuer: HttpsIssuer) -> None:
    keys = endpoint(issuer.jwks_url, issuer.truststore, refresh_ms=100)
    keys.start()
    issuer.await_requests("/jwks", 3)
    keys.close()
    keys._thread.join(20.0)
    assert not keys._thread.is_alive()


def test_keys_may_be_read_once_in_ages(issuer: HttpsIssuer) -> None:
    """A wait that threads refuse ended the thread: rotated keys were not read."""
    keys = endpoint(issuer.jwks_url, issuer.truststore, refresh_ms=2**63 - 1)
    keys.start()
    await_result(lambda: is_valid(keys, issuer.token("alice")), "the keys are read", 20.0)
    keys._thread.join(0.3)
    assert keys._thread.is_alive()
    keys.close()
    keys._thread.join(20.0)
    assert not keys._thread.is_alive()


def test_what_nobody_expects_does_not_end_the_reading(
    issuer: HttpsIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = jwks_endpoint.parse_verification_keys

    def failing(document: bytes) -> object:
        monkeypatch.setattr(jwks_endpoint, "parse_verification_keys", read)
        raise RecursionError("too deep")

    monkeypatch.setattr(jwks_endpoint, "parse_verification_keys", failing)
    keys = endpoint(issuer.jwks_url, issuer.truststore)
    keys.start()
    await_result(lambda: is_valid(keys, issuer.token("alice")), "the keys are read", 20.0)
    keys.close()


def test_a_controller_starts_before_its_issuer(issuer: HttpsIssuer, started: JwksEndpoint) -> None:
    """And an issuer that fails later leaves the keys that are known in use."""
    issuer.override["/jwks"] = lambda handler: (503, b"")
    keys = endpoint(issuer.jwks_url, issuer.truststore, refresh_ms=100)
    keys.start()
    try:
        await_result(lambda: "it answers 503" in keys.why_missing(), "the first attempt fails", 20.0)
        with pytest.raises(JwtValidatorError, match="no keys of the issuer yet: https://localhost"):
            JwtValidator(VALIDATOR, keys).validate(issuer.token("alice"), 0)
        issuer.override.clear()
        await_result(lambda: is_valid(keys, issuer.token("alice")), "the keys are read", 20.0)
        issuer.override["/jwks"] = lambda handler: (503, b"")
        issuer.await_requests("/jwks", len(issuer.requests) + 2)
        assert is_valid(keys, issuer.token("alice"))
    finally:
        keys.close()


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (404, b"{}", "it answers 404"),
        (302, b"https://localhost/elsewhere", "it answers 302, a redirect, which is not followed"),
        (200, b"<html>", "it is no JWKS"),
        (200, b'{"keys": []}', "none of its 0 keys"),
        (200, b" " * (https_exchange.BODY_BYTES_MAX + 1), "more than 1048576 bytes"),
    ],
)
def test_answers_that_are_no_keys(status: int, body: bytes, reason: str, issuer: HttpsIssuer) -> None:
    issuer.override["/jwks"] = lambda handler: (status, body)
    keys = endpoint(issuer.jwks_url, issuer.truststore)
    keys.start()
    await_result(lambda: reason in keys.why_missing(), reason, 20.0)
    keys.close()
    assert keys.keys() is None
    assert set(issuer.requests) == {"/jwks"}


@pytest.mark.parametrize("trusted", ["other", "system"])
def test_an_issuer_without_a_trusted_certificate_is_not_asked(
    trusted: str, issuer: HttpsIssuer, tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    other.write_text(Authority().pem)
    keys = endpoint(issuer.jwks_url, other if trusted == "other" else None)
    keys.start()
    await_result(lambda: "CERTIFICATE_VERIFY_FAILED" in keys.why_missing(), "the handshake fails", 20.0)
    keys.close()
    assert issuer.requests == []


def test_an_issuer_with_another_name_is_not_asked(issuer: HttpsIssuer) -> None:
    keys = endpoint(issuer.jwks_url.replace("localhost", "127.0.0.1"), issuer.truststore)
    keys.start()
    await_result(lambda: "IP address mismatch" in keys.why_missing(), "the handshake fails", 20.0)
    keys.close()
    assert issuer.requests == []


def test_an_answer_byte_by_byte_is_ended(issuer: HttpsIssuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(https_exchange, "EXCHANGE_SECONDS_MAX", 0.3)
    issuer.override["/jwks"] = slowly
    keys = endpoint(issuer.jwks_url, issuer.truststore)
    keys.start()
    await_result(lambda: "yet" not in keys.why_missing(), "the attempt fails", 20.0)
    keys.close()
    assert keys.keys() is None


def slowly(handler: BaseHTTPRequestHandler) -> None:
    """Bytes of a header, each before any timeout, until the other side closes the connection."""
    pause = threading.Event()
    for _ in range(2_000):
        try:
            handler.wfile.write(b"x")
        except OSError:
            return
        pause.wait(0.01)


def test_a_file_is_read_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks_endpoint, "FILE_LOOK_MS", 50)
    first, second = SigningKey("1"), SigningKey("2")
    file = tmp_path / "jwks.json"
    keys = endpoint(f"file:{file}", None)
    keys.start()
    try:
        await_result(lambda: "No such file" in keys.why_missing(), "the file is missing", 20.0)
        file.write_bytes(jwks(first))
        await_result(lambda: keys.keys() is not None, "the file is read", 20.0)
        file.write_text(json.dumps({"keys": []}))
        await_result(lambda: "none of its 0 keys" in keys.why_missing(), "the bad file is noticed", 20.0)
        assert keys.keys() is not None
        replacement = tmp_path / "new"
        replacement.write_bytes(jwks(second))
        os.replace(replacement, file)
        await_result(lambda: "2" in keys.keys().ids, "the new file is read", 20.0)
    finally:
        keys.close()
