"""The keys of OAUTHBEARER: Kafka's defaults, prefixes and limits, and what is refused."""

from __future__ import annotations

import pytest

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.sasl.oauthbearer.assertion_config import ALLOWED_FILES
from kraftctl_security.sasl.oauthbearer.client_credentials import ClientSecret
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import (
    OAuthBearerClientConfig,
    OAuthBearerServerConfig,
    read_client_config,
    read_server_config,
)

PACKAGE = "org.apache.kafka.common.security.oauthbearer."
NO_JAVA = "a Java class cannot be loaded here"
MECHANISM = "listener.name.controller.oauthbearer."
JWKS, TOKENS = "https://issuer/jwks", "https://issuer/token"
SERVER = {
    f"{MECHANISM}sasl.server.callback.handler.class": f"{PACKAGE}OAuthBearerValidatorCallbackHandler",
    "sasl.oauthbearer.jwks.endpoint.url": JWKS,
    ALLOWED_URLS: f"{JWKS}, {TOKENS}, file:/etc/jwks.json",
}
CLIENT = {
    "sasl.login.callback.handler.class": f"{PACKAGE}OAuthBearerLoginCallbackHandler",
    "sasl.oauthbearer.token.endpoint.url": TOKENS,
    "sasl.oauthbearer.client.credentials.client.id": "kraftctl",
    "sasl.oauthbearer.client.credentials.client.secret": "hunter2",
    ALLOWED_URLS: f"{TOKENS},file:/etc/token",
}
ASSERTION = {
    "sasl.oauthbearer.assertion.claim.iss": "me",
    "sasl.oauthbearer.assertion.private.key.file": "/etc/key.pem",
    ALLOWED_FILES: "/etc/key.pem",
}


def server(properties: dict[str, str], options: dict[str, str] | None = None) -> OAuthBearerServerConfig:
    values = ConfigValues({name: text for name, text in (SERVER | properties).items() if text != "-"})
    found = read_server_config(values, "CONTROLLER", options or {})
    values.raise_errors()
    assert found is not None
    return found


def client(
    properties: dict[str, str], options: dict[str, str] | None = None, listener: str | None = None
) -> OAuthBearerClientConfig:
    values = ConfigValues({name: text for name, text in (CLIENT | properties).items() if text != "-"})
    found = read_client_config(values, listener, options or {})
    values.raise_errors()
    assert found is not None
    return found


def errors_of_server(properties: dict[str, str], options: dict[str, str] | None = None) -> str:
    values = ConfigValues({name: text for name, text in (SERVER | properties).items() if text != "-"})
    read_server_config(values, "CONTROLLER", options or {})
    return "\n".join(values.errors)


def errors_of_client(properties: dict[str, str], options: dict[str, str] | None = None) -> str:
    values = ConfigValues({name: text for name, text in (CLIENT | properties).items() if text != "-"})
    read_client_config(values, None, options or {})
    return "\n".join(values.errors)


def test_defaults_are_those_of_kafka() -> None:
    found = server({})
    jwks, validator = found.jwks, found.validator
    assert (jwks.refresh_ms, jwks.retry_backoff_ms, jwks.retry_backoff_max_ms) == (3_600_000, 100, 10_000)
    assert (validator.clock_skew_seconds, validator.scope_claim_name, validator.sub_claim_name) == (
        *(30, "scope"),
        "sub",
    )
    assert (validator.expected_audiences, validator.expected_issuer) == ([], None)
    assert jwks.ssl.truststore is None
    login = client({})
    assert (login.retry_backoff_ms, login.retry_backoff_max_ms) == (100, 10_000)
    assert (login.connect_timeout_ms, login.read_timeout_ms) == (None, None)
    refresh = login.refresh
    assert (refresh.window_factor, refresh.window_jitter) == (0.8, 0.05)
    assert (refresh.period_seconds_min, refresh.buffer_seconds) == (60, 300)
    assert isinstance(login.credentials, ClientSecret)
    assert (login.credentials.scope, login.credentials.url_encoded) == (None, False)


def test_the_prefix_of_the_mechanism_precedes_that_of_the_listener() -> None:
    key = "sasl.oauthbearer.clock.skew.seconds"
    for properties, expected in (
        ({key: "1"}, 1),
        ({key: "1", f"listener.name.controller.{key}": "2"}, 2),
        ({key: "1", f"listener.name.controller.{key}": "2", f"{MECHANISM}{key}": "3"}, 3),
        ({f"listener.name.other.{key}": "2"}, 30),
    ):
        assert server(properties).validator.clock_skew_seconds == expected


def test_the_issuer_is_trusted_by_options_of_the_login_module_and_not_by_keys_of_the_listener() -> None:
    """As in Kafka: the issuer's certificate usually has another authority than those of brokers."""
    store = {"ssl.truststore.type": "PEM", "ssl.truststore.location": "ca.pem"}
    assert server(store).jwks.ssl.truststore is None
    truststore = server({}, store).jwks.ssl.truststore
    assert truststore is not None
    assert truststore.location == "ca.pem"
    assert "In the options of sasl.jaas.config: Invalid value BKS" in errors_of_server(
        {}, {"ssl.truststore.location": "ca.bks", "ssl.truststore.type": "BKS"}
    )


def test_the_keys_of_credentials_precede_the_options_of_the_login_module() -> None:
    options = {"clientId": "old", "clientSecret": "old", "scope": "old", "extension_traceId": "5"}
    login = client({"sasl.oauthbearer.scope": "kafka"}, options)
    assert isinstance(login.credentials, ClientSecret)
    assert (login.credentials.client_id, login.credentials.scope) == ("kraftctl", "kafka")
    assert login.extensions == {"traceId": "5"}
    prefix = "sasl.oauthbearer.client.credentials.client."
    login = client({f"{prefix}id": "-", f"{prefix}secret": "-"}, options)
    assert isinstance(login.credentials, ClientSecret)
    assert (login.credentials.client_id, login.credentials.client_secret) == ("old", "old")


def test_a_controller_is_a_client_with_the_keys_of_its_listener() -> None:
    login = client({f"{MECHANISM}sasl.oauthbearer.scope": "quorum"}, listener="CONTROLLER")
    assert isinstance(login.credentials, ClientSecret)
    assert login.credentials.scope == "quorum"


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"sasl.oauthbearer.jwks.endpoint.url": "-"}, "Missing required configuration"),
        ({ALLOWED_URLS: "-"}, f"it is not in {ALLOWED_URLS}. Next step: add it"),
        ({ALLOWED_URLS: JWKS + "/"}, f"it is not in {ALLOWED_URLS}"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "http://issuer/jwks"}, "never with http://"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "https:///jwks"}, "must have a host"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "https://a:b@issuer/"}, "neither a user nor a fragment"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "https://issuer:99999/"}, "Port out of range"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "https://issuer/a b"}, "must be encoded"),
        ({"sasl.oauthbearer.jwks.endpoint.url": "file://host/jwks"}, "an absolute path"),
        (
            {f"{MECHANISM}sasl.server.callback.handler.class": "-"},
            "default is for tokens without a signature",
        ),
        (
            {
                f"{MECHANISM}sasl.server.callback.handler.class": PACKAGE
                + "internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
            },
            NO_JAVA,
        ),
        (
            {"sasl.oauthbearer.jwt.validator.class": f"{PACKAGE}ClientJwtValidator"},
            NO_JAVA,
        ),
        ({"sasl.oauthbearer.clock.skew.seconds": "-1"}, "it must be at least 0"),
        ({"sasl.oauthbearer.jwks.endpoint.refresh.ms": "0"}, "it must be at least 1"),
        ({"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "9"}, "it must be at least"),
        ({"sasl.oauthbearer.sub.claim.name": ""}, "it must not be empty"),
    ],
)
def test_what_a_listener_is_refused_for(properties: dict[str, str], error: str) -> None:
    assert error in errors_of_server(properties)


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"sasl.login.callback.handler.class": "-"}, "default is for tokens without a signature"),
        ({"sasl.oauthbearer.token.endpoint.url": "-"}, "it is where a client gets its token"),
        ({"sasl.oauthbearer.token.endpoint.url": "http://issuer/token"}, "never with http://"),
        ({"sasl.oauthbearer.client.credentials.client.secret": "-"}, "credentials.client.secret"),
        ({"sasl.oauthbearer.jwt.retriever.class": "com.example.Own"}, NO_JAVA),
        ({"sasl.oauthbearer.assertion.file": "/a"}, f"it is not in {ALLOWED_FILES}. Next step: add it"),
        ({"sasl.oauthbearer.assertion.claim.iss": "me"}, "assertion.private.key.file"),
        (ASSERTION | {"sasl.oauthbearer.assertion.algorithm": "RS512"}, "must be one of ES256, RS256"),
        (ASSERTION | {"sasl.oauthbearer.assertion.claim.exp.seconds": "86401"}, "at most 86400"),
        (ASSERTION | {"sasl.oauthbearer.assertion.template.file": "/b"}, "/b for configuration"),
        ({"sasl.login.refresh.window.factor": "0.4"}, "from 0.5 to 1.0"),
        ({"sasl.login.refresh.window.jitter": "x"}, "it is no DOUBLE"),
        ({"sasl.login.refresh.window.jitter": "nan"}, "from 0.0 to"),
        ({"sasl.login.refresh.min.period.seconds": "901"}, "at most 900"),
        ({"sasl.login.refresh.buffer.seconds": "3601"}, "at most 3600"),
    ],
)
def test_what_a_client_is_refused_for(properties: dict[str, str], error: str) -> None:
    assert error in errors_of_client(properties)


def test_no_error_shows_a_secret() -> None:
    texts = [
        errors_of_client({"sasl.oauthbearer.client.credentials.client.id": "-"}),
        errors_of_client({}, {"extension_1": "hunter2", "clientSecret": "hunter2"}),
    ]
    assert all(texts)
    assert not any("hunter2" in text for text in texts)


def test_no_error_shows_the_password_of_a_url() -> None:
    key = "sasl.oauthbearer.jwks.endpoint.url"
    text = errors_of_server({key: "https://a:hidden-password@issuer/"})
    assert f"Invalid value [hidden] for configuration {key}" in text
    assert "hidden-password" not in text


def test_a_token_in_a_file_needs_no_credentials() -> None:
    login = client(
        {
            "sasl.oauthbearer.token.endpoint.url": "file:/etc/token",
            "sasl.oauthbearer.client.credentials.client.id": "-",
        }
    )
    assert (login.url.path, login.credentials) == ("/etc/token", None)
