"""The token that the connections of a client share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_security import client_mechanisms
from kraftctl_security.client_config import read_client_security
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from tests.support.https_issuer import HttpsIssuer

PACKAGE = "org.apache.kafka.common.security.oauthbearer."


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[HttpsIssuer]:
    with HttpsIssuer(tmp_path, {"ada": "secret", "bob": "secret"}) as found:
        yield found
        for login in client_mechanisms._logins.values():
            login.close()
        client_mechanisms._logins.clear()


def keys(issuer: HttpsIssuer, name: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f"{PACKAGE}OAuthBearerLoginModule required {issuer.jaas_options()};",
        "sasl.login.callback.handler.class": f"{PACKAGE}OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": issuer.token_url,
        "sasl.oauthbearer.client.credentials.client.id": name,
        "sasl.oauthbearer.client.credentials.client.secret": "secret",
        ALLOWED_URLS: issuer.token_url,
    }


def first_message(issuer: HttpsIssuer, name: str) -> bytes:
    """Of a connection for which the configuration is read."""
    values = ConfigValues(keys(issuer, name))
    security = read_client_security(values, {})
    assert values.unread() == []
    assert security.new_sasl_client is not None
    assert "secret" not in f"{security!r} {security.new_sasl_client!r}"
    message = security.new_sasl_client().evaluate(b"")
    assert message is not None
    return message


def test_connections_of_one_configuration_share_a_token(issuer: HttpsIssuer) -> None:
    first = first_message(issuer, "ada")
    assert [first_message(issuer, "ada") for _ in range(5)] == [first] * 5
    assert issuer.requests == ["/token"]
    assert first_message(issuer, "bob") != first
    assert issuer.requests == ["/token"] * 2


def test_tokens_of_former_configurations_are_not_replaced_for_ever(
    issuer: HttpsIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_mechanisms, "LOGINS_MAX", 1)
    first_message(issuer, "ada")
    (login,) = client_mechanisms._logins.values()
    first_message(issuer, "bob")
    assert len(client_mechanisms._logins) == 1
    assert login._closing.is_set()


def test_an_issuer_that_refuses_is_named(issuer: HttpsIssuer) -> None:
    with pytest.raises(SaslAuthenticationError, match="/token answers 401: invalid_client"):
        first_message(issuer, "eve")


def test_a_truststore_that_cannot_be_read_is_an_error_of_the_configuration(issuer: HttpsIssuer) -> None:
    issuer.truststore.unlink()
    with pytest.raises(ConfigException, match="for the issuer of tokens, cannot read"):
        first_message(issuer, "ada")
