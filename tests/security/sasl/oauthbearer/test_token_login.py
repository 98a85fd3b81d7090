"""The token of a client: from an endpoint or a file, replaced in time, and what happens without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.issuer import token_login
from kraftctl_security.issuer.token_endpoint import TokenEndpointError, fetch_token
from kraftctl_security.issuer.token_login import TokenLogin
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.client_credentials import ClientSecret, token_request
from kraftctl_security.sasl.oauthbearer.initial_response import parse_initial_response
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from kraftctl_security.sasl.oauthbearer.oauthbearer_client import TokenUnavailableError
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import (
    LOGIN_HANDLERS,
    OAuthBearerClientConfig,
    read_client_config,
)
from tests.support.certificates import Authority
from tests.support.https_issuer import HttpsIssuer

SECRET = "s p=ä~"


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[HttpsIssuer]:
    with HttpsIssuer(tmp_path, {"kraftctl": SECRET, "a*b c": SECRET}) as found:
        yield found


def config(url: str, issuer: HttpsIssuer | None = None, **others: str) -> OAuthBearerClientConfig:
    """`others` has underscores for dots, after `sasl.`."""
    properties = {
        "sasl.login.callback.handler.class": LOGIN_HANDLERS[0],
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.credentials.client.id": "kraftctl",
        "sasl.oauthbearer.client.credentials.client.secret": SECRET,
        "sasl.login.retry.backoff.max.ms": "1000",
        ALLOWED_URLS: url,
        **{f"sasl.{name.replace('_', '.')}": text for name, text in others.items()},
    }
    options = {} if issuer is None else {"ssl.truststore.location": str(issuer.truststore)}
    values = ConfigValues(properties)
    found = read_client_config(values, None, options | ({"ssl.truststore.type": "PEM"} if options else {}))
    values.raise_errors()
    assert found is not None
    return found


@pytest.fixture
def retries_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_login, "RETRY_MS", 100)
    monkeypatch.setattr(token_login, "FILE_LOOK_MS", 50)


def sent(login: TokenLogin) -> str:
    """The token that a new connection sends."""
    first = login.new_client().evaluate(b"")
    assert first is not None
    return parse_initial_response(first).token


def test_a_token_of_the_endpoint(issuer: HttpsIssuer) -> None:
    found = fetch_token(config(issuer.token_url, issuer, oauthbearer_scope="kafka"))
    assert (found.token.principal_name, found.token.scopes) == ("kraftctl", ["kafka"])
    assert issuer.requests == ["/token"]


def test_names_and_secrets_may_be_url_encoded(issuer: HttpsIssuer) -> None:
    found = config(
        issuer.token_url,
        issuer,
        oauthbearer_header_urlencode="true",
        oauthbearer_client_credentials_client_id="a*b c",
    )
    assert fetch_token(found).token.principal_name == "a*b c"
    headers, body = token_request(
        ClientSecret(client_id="a*b c", client_secret="-_.~ä+", scope="a b&c", url_encoded=True), None
    )
    assert headers["Authorization"] == "Basic YSpiK2M6LV8uJTdFJUMzJUE0JTJC"
    assert body == b"grant_type=client_credentials&scope=a+b%26c"


@pytest.mark.parametrize(
    ("status", "body", "reason", "retriable"),
    [
        (
            401,
            b'{"error": "invalid_client", "error_description": "who?"}',
            "401: invalid_client - who?",
            False,
        ),
        (400, b'{"errorCode": "E7", "errorSummary": "no"}', "400: E7 - no", False),
        (500, b"secret details", "answers 500$", True),
        (302, b"https://localhost/x", "302, a redirect", True),
        (200, b'{"access_token": ""}', "has no access_token", True),
        (200, b"", "has no access_token", True),
        (200, b'{"access_token": "opaque"}', "token that is not valid", True),
    ],
)
def test_answers_without_a_token(
    status: int, body: bytes, reason: str, retriable: bool, issuer: HttpsIssuer
) -> None:
    issuer.override["/token"] = lambda handler: (status, body)
    with pytest.raises(TokenEndpointError, match=reason) as caught:
        fetch_token(config(issuer.token_url, issuer))
    assert caught.value.retriable == retriable
    assert issuer.requests == ["/token"]
    assert SECRET not in str(caught.value)


def test_the_secret_is_sent_to_no_server_without_a_trusted_certificate(
    issuer: HttpsIssuer, tmp_path: Path
) -> None:
    issuer.truststore.write_text(Authority().pem)
    with pytest.raises(TokenEndpointError, match="CERTIFICATE_VERIFY_FAILED"):
        fetch_token(config(issuer.token_url, issuer))
    assert issuer.requests == []


def test_an_id_token_is_as_good(issuer: HttpsIssuer) -> None:
    token = issuer.token("bob")
    issuer.override["/token"] = lambda handler: (200, json.dumps({"id_token": token}).encode())
    assert fetch_token(config(issuer.token_url, issuer)).text == token


def test_a_token_is_replaced_before_it_expires(issuer: HttpsIssuer) -> None:
    issuer.lifetime_s = 2
    login = TokenLogin(config(issuer.token_url, issuer))
    login.start()
    try:
        first = sent(login)
        await_result(lambda: sent(login) != first, "the token is replaced", 20.0)
        issuer.await_requests("/token", 2)
    finally:
        login.close()
    login._thread.join(20.0)
    assert not login._thread.is_alive()


def test_a_token_may_last_for_ages(issuer: HttpsIssuer) -> None:
    """A wait that threads refuse ended the thread."""
    issuer.lifetime_s = 10**12
    login = TokenLogin(config(issuer.token_url, issuer))
    login.start()
    assert sent(login)
    login._thread.join(0.3)
    assert login._thread.is_alive()
    login.close()


def test_what_nobody_expects_does_not_end_a_login(
    issuer: HttpsIssuer, retries_soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: object) -> object:
        monkeypatch.setattr(token_login, "fetch_token", fetch_token)
        raise RecursionError("too deep")

    monkeypatch.setattr(token_login, "fetch_token", failing)
    login = TokenLogin(config(issuer.token_url, issuer))
    login.start()
    await_result(lambda: failure(login) == "", "there is a token", 20.0)
    login.close()


def test_a_token_that_cannot_be_replaced_is_used_until_it_expires(
    issuer: HttpsIssuer, retries_soon: None
) -> None:
    issuer.lifetime_s = 3
    login = TokenLogin(config(issuer.token_url, issuer))
    login.start()
    try:
        first = sent(login)
        issuer.override["/token"] = lambda handler: (401, b'{"error": "locked"}')
        issuer.await_requests("/token", 2)
        assert sent(login) == first
        await_result(lambda: "401: locked" in failure(login), "the token expires", 20.0)
        issuer.override.clear()
        await_result(lambda: failure(login) == "", "the issuer has recovered", 20.0)
    finally:
        login.close()


def test_a_login_waits_for_its_issuer(issuer: HttpsIssuer, retries_soon: None) -> None:
    issuer.override["/token"] = lambda handler: (503, b"")
    login = TokenLogin(config(issuer.token_url, issuer))
    login.start()
    try:
        issuer.await_requests("/token", 2)
        with pytest.raises(TokenUnavailableError, match="answers 503"):
            login.token()
        issuer.override.clear()
        await_result(lambda: failure(login) == "", "there is a token", 20.0)
    finally:
        login.close()


def test_a_token_in_a_file_is_read_again(issuer: HttpsIssuer, retries_soon: None, tmp_path: Path) -> None:
    file = tmp_path / "token"
    login = TokenLogin(config(f"file:{file}"))
    login.start()
    try:
        file.write_text("no token\n")
        await_result(lambda: "token that is not valid" in failure(login), "the bad file is noticed", 20.0)
        for name in ("first", "second"):
            token = issuer.token(name)
            file.write_text(f"{token}\n")
            await_result(lambda: has_token_of(login, name), name, 20.0)  # noqa: B023, it is called in this round
    finally:
        login.close()
    assert issuer.requests == []


def has_token_of(login: TokenLogin, name: str) -> bool:
    return login._current is not None and login._current.token.principal_name == name


def failure(login: TokenLogin) -> str:
    try:
        sent(login)
    except SaslAuthenticationError as error:
        return str(error)
    return ""
