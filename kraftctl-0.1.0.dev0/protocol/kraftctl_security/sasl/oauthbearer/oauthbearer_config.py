"""The keys of OAUTHBEARER, of a listener and of a client, with Kafka's names, defaults and checks.

KIP-768, KIP-1139 and KIP-1258. Nothing is read from files here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.sasl.java_classes import LOGIN_CALLBACK_HANDLERS, SERVER_CALLBACK_HANDLERS
from kraftctl_security.sasl.oauthbearer.client_credentials import Credentials, read_credentials
from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponse, InitialResponseError
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS, IssuerUrl, read_issuer_url
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.login_refresh import LoginRefreshConfig
from kraftctl_security.sasl.oauthbearer.oauthbearer_values import OAuthBearerValues
from kraftctl_security.tls.ssl_config import SslConfig, listener_prefix, read_client_ssl_config

_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer."

VALIDATOR_HANDLERS: Final = SERVER_CALLBACK_HANDLERS["OAUTHBEARER"]
LOGIN_HANDLERS: Final = LOGIN_CALLBACK_HANDLERS["OAUTHBEARER"]
VALIDATORS: Final = (f"{_PACKAGE}DefaultJwtValidator", f"{_PACKAGE}BrokerJwtValidator")
CLIENT_VALIDATORS: Final = (f"{_PACKAGE}DefaultJwtValidator", f"{_PACKAGE}ClientJwtValidator")
JWT_BEARER_RETRIEVER: Final = f"{_PACKAGE}JwtBearerJwtRetriever"
RETRIEVERS: Final = (
    f"{_PACKAGE}DefaultJwtRetriever",
    f"{_PACKAGE}ClientCredentialsJwtRetriever",
    f"{_PACKAGE}FileJwtRetriever",
    JWT_BEARER_RETRIEVER,
)

EXTENSION_PREFIX: Final = "extension_"
"""JAAS options with this prefix become extensions of the first message."""


class JwksConfig:
    """The place of the issuer's keys, and how often they are read."""

    def __init__(
        self,
        *,
        url: IssuerUrl,
        ssl: SslConfig,
        refresh_ms: int,
        retry_backoff_ms: int,
        retry_backoff_max_ms: int,
    ) -> None:
        self.url = url
        self.ssl = ssl
        self.refresh_ms = refresh_ms
        self.retry_backoff_ms = retry_backoff_ms
        self.retry_backoff_max_ms = retry_backoff_max_ms


class OAuthBearerServerConfig:
    """The tokens that a listener accepts."""

    def __init__(self, jwks: JwksConfig, validator: JwtValidatorConfig) -> None:
        self.jwks = jwks
        self.validator = validator


class OAuthBearerClientConfig:
    """The way in which a client gets its token. `credentials` is None if the token is in a file."""

    def __init__(
        self,
        *,
        url: IssuerUrl,
        ssl: SslConfig,
        credentials: Credentials | None,
        connect_timeout_ms: int | None,
        read_timeout_ms: int | None,
        retry_backoff_ms: int,
        retry_backoff_max_ms: int,
        refresh: LoginRefreshConfig,
        extensions: dict[str, str],
        scope_claim_name: str,
        sub_claim_name: str,
    ) -> None:
        self.url = url
        self.ssl = ssl
        self.credentials = credentials
        self.connect_timeout_ms = connect_timeout_ms
        self.read_timeout_ms = read_timeout_ms
        self.retry_backoff_ms = retry_backoff_ms
        self.retry_backoff_max_ms = retry_backoff_max_ms
        self.refresh = refresh
        self.extensions = extensions
        self.scope_claim_name = scope_claim_name
        self.sub_claim_name = sub_claim_name


def mechanism_prefixes(listener: str | None) -> list[str]:
    """Returns the prefixes that a key for OAUTHBEARER may have; none for a client without listener."""
    return [] if listener is None else [f"{listener_prefix(listener)}oauthbearer.", listener_prefix(listener)]


def read_server_config(
    config_values: ConfigValues, listener: str, jaas_options: Mapping[str, str]
) -> OAuthBearerServerConfig | None:
    """Reads the keys of a listener; None if some are wrong, which `config_values` notes.

    `jaas_options` are those of OAuthBearerLoginModule: as in Kafka, they have the `ssl.` keys for the
    issuer.
    """
    prefixes = mechanism_prefixes(listener)
    values = OAuthBearerValues(config_values, prefixes)
    allowed = config_values.names(ALLOWED_URLS)
    handler = OAuthBearerValues(config_values, prefixes[:1])
    handler.class_name("sasl.server.callback.handler.class", VALIDATOR_HANDLERS, None)
    values.class_name("sasl.oauthbearer.jwt.validator.class", VALIDATORS, VALIDATORS[0])
    url_key = "sasl.oauthbearer.jwks.endpoint.url"
    url = read_issuer_url(values, url_key, allowed)
    if not values.has(url_key):
        values.missing(url_key, f"listener {listener} verifies tokens with the keys of their issuer")
    refresh_ms = values.int64("sasl.oauthbearer.jwks.endpoint.refresh.ms", 3_600_000, at_least=1)
    backoff_ms, backoff_max_ms = _backoff(values, "sasl.oauthbearer.jwks.endpoint.retry.backoff")
    validator = JwtValidatorConfig(
        expected_audiences=values.names("sasl.oauthbearer.expected.audience", ""),
        expected_issuer=values.optional_text("sasl.oauthbearer.expected.issuer"),
        clock_skew_seconds=values.int32("sasl.oauthbearer.clock.skew.seconds", 30, at_least=0),
        scope_claim_name=_claim_name(values, "scope"),
        sub_claim_name=_claim_name(values, "sub"),
    )
    ssl = _issuer_ssl(values, jaas_options)
    if url is None:
        return None
    jwks = JwksConfig(
        url=url,
        ssl=ssl,
        refresh_ms=refresh_ms,
        retry_backoff_ms=backoff_ms,
        retry_backoff_max_ms=backoff_max_ms,
    )
    return OAuthBearerServerConfig(jwks, validator)


def read_client_config(
    config_values: ConfigValues, listener: str | None, jaas_options: Mapping[str, str]
) -> OAuthBearerClientConfig | None:
    """Reads a client's keys; `listener` is that of a controller which connects to others, None for tools.

    The result is None if some are wrong, which `config_values` notes.
    """
    values = OAuthBearerValues(config_values, mechanism_prefixes(listener))
    values.class_name("sasl.login.callback.handler.class", LOGIN_HANDLERS, None)
    retriever = values.class_name("sasl.oauthbearer.jwt.retriever.class", RETRIEVERS, RETRIEVERS[0])
    values.class_name("sasl.oauthbearer.jwt.validator.class", CLIENT_VALIDATORS, CLIENT_VALIDATORS[0])
    url_key = "sasl.oauthbearer.token.endpoint.url"
    url = read_issuer_url(values, url_key, config_values.names(ALLOWED_URLS))
    if not values.has(url_key):
        values.missing(url_key, "it is where a client gets its token")
    credentials = None
    if url is not None and url.path is None:
        jwt_bearer = retriever == JWT_BEARER_RETRIEVER
        credentials = read_credentials(values, jaas_options, jwt_bearer=jwt_bearer)
    connect_timeout_ms = values.optional_int32("sasl.login.connect.timeout.ms", at_least=0)
    read_timeout_ms = values.optional_int32("sasl.login.read.timeout.ms", at_least=0)
    backoff_ms, backoff_max_ms = _backoff(values, "sasl.login.retry.backoff")
    refresh, ssl = _refresh(values), _issuer_ssl(values, jaas_options)
    extensions = _extensions(values, jaas_options)
    scope_claim_name, sub_claim_name = _claim_name(values, "scope"), _claim_name(values, "sub")
    if url is None or (url.path is None and credentials is None):
        return None
    return OAuthBearerClientConfig(
        url=url,
        ssl=ssl,
        credentials=credentials,
        connect_timeout_ms=connect_timeout_ms,
        read_timeout_ms=read_timeout_ms,
        retry_backoff_ms=backoff_ms,
        retry_backoff_max_ms=backoff_max_ms,
        refresh=refresh,
        extensions=extensions,
        scope_claim_name=scope_claim_name,
        sub_claim_name=sub_claim_name,
    )


def _refresh(values: OAuthBearerValues) -> LoginRefreshConfig:
    prefix = "sasl.login.refresh."
    return LoginRefreshConfig(
        window_factor=values.fraction(f"{prefix}window.factor", 0.8, at_least=0.5, at_most=1.0),
        window_jitter=values.fraction(f"{prefix}window.jitter", 0.05, at_least=0.0, at_most=0.25),
        period_seconds_min=values.bounded_int32(f"{prefix}min.period.seconds", 60, at_least=0, at_most=900),
        buffer_seconds=values.bounded_int32(f"{prefix}buffer.seconds", 300, at_least=0, at_most=3_600),
    )


def _backoff(values: OAuthBearerValues, prefix: str) -> tuple[int, int]:
    first = values.int64(f"{prefix}.ms", 100, at_least=0)
    last = values.int64(f"{prefix}.max.ms", 10_000, at_least=0)
    if last < first:
        values.refuse(f"{prefix}.max.ms", str(last), f"it must be at least {prefix}.ms, which is {first}")
    return first, last


def _claim_name(values: OAuthBearerValues, claim: str) -> str:
    """Returns the name of a claim; `claim` is its default, and the part of the key that names it."""
    key = f"sasl.oauthbearer.{claim}.claim.name"
    name = values.text(key, claim)
    if not name:
        values.refuse(key, name, "it must not be empty")
    return name


def _issuer_ssl(values: OAuthBearerValues, jaas_options: Mapping[str, str]) -> SslConfig:
    """Returns the keys for the issuer: as in Kafka, none of the listener, because its authorities differ."""
    options = ConfigValues({name: text for name, text in jaas_options.items() if name.startswith("ssl.")})
    found = read_client_ssl_config(options)
    values.note([f"In the options of {values.name('sasl.jaas.config')}: {error}" for error in options.errors])
    return found


def _extensions(values: OAuthBearerValues, jaas_options: Mapping[str, str]) -> dict[str, str]:
    extensions = {
        name.removeprefix(EXTENSION_PREFIX): text
        for name, text in jaas_options.items()
        if name.startswith(EXTENSION_PREFIX)
    }
    try:
        return InitialResponse("", extensions=extensions).extensions
    except InitialResponseError as error:
        values.refuse_secret("sasl.jaas.config", str(error))
        return {}
