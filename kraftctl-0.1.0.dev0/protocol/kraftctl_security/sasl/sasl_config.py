"""The keys of SASL: which mechanisms a listener offers, which one a client uses, and the credentials of each.

Names, defaults and order of precedence are Kafka's. Nothing is read from files here: the caller passes the
JAAS file that `login_configuration` has parsed, if there is one.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.jvm_options import KAFKA_OPTS
from kraftctl_security.prefixed_values import PrefixedValues
from kraftctl_security.sasl.jaas import (
    OAUTHBEARER_LOGIN_MODULE,
    PLAIN_LOGIN_MODULE,
    SCRAM_LOGIN_MODULE,
    JaasContext,
    JaasError,
    parse_jaas_config,
)
from kraftctl_security.sasl.java_classes import (
    refuse_client_classes,
    refuse_login_classes,
    refuse_principal_builder,
    refuse_server_classes,
)
from kraftctl_security.sasl.login_configuration import (
    CLIENT_SECTION,
    LOGIN_CONFIG_OPTION,
    SERVER_SECTION,
    LoginConfiguration,
)
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import (
    OAuthBearerClientConfig,
    OAuthBearerServerConfig,
    read_client_config,
    read_server_config,
)

GSSAPI: Final = "GSSAPI"
PLAIN: Final = "PLAIN"
SCRAM_SHA_256: Final = "SCRAM-SHA-256"
SCRAM_SHA_512: Final = "SCRAM-SHA-512"
OAUTHBEARER: Final = "OAUTHBEARER"

MECHANISMS: Final = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, OAUTHBEARER)
"""The mechanisms that are implemented."""

ALLOWED: Final = f"allowed are {', '.join(MECHANISMS)}"

LOGIN_MODULE_OF: Final[dict[str, str]] = {
    PLAIN: PLAIN_LOGIN_MODULE,
    SCRAM_SHA_256: SCRAM_LOGIN_MODULE,
    SCRAM_SHA_512: SCRAM_LOGIN_MODULE,
    OAUTHBEARER: OAUTHBEARER_LOGIN_MODULE,
}

ENABLED_MECHANISMS: Final = "sasl.enabled.mechanisms"
JAAS_CONFIG: Final = "sasl.jaas.config"
CONTROLLER_MECHANISM: Final = "sasl.mechanism.controller.protocol"
CLIENT_MECHANISM: Final = "sasl.mechanism"
RECEIVE_SIZE: Final = "sasl.server.max.receive.size"
REAUTH_MS: Final = "connections.max.reauth.ms"

RECEIVE_BYTES_MAX: Final = 512 * 1024
"""Kafka's default of sasl.server.max.receive.size (CVE-2022-34917)."""

TOKEN_BYTES_MAX: Final[dict[str, int]] = {
    PLAIN: 4 * 1024,
    SCRAM_SHA_256: 4 * 1024,
    SCRAM_SHA_512: 4 * 1024,
    OAUTHBEARER: 64 * 1024,
}
"""The limit of one token of a client, below that of Kafka. Names and passwords have some hundred bytes, JWTs
a few thousand, and those of users with very many groups some ten thousand."""


class SaslMechanismConfig:
    """One mechanism that a listener offers, or that a client uses.

    `values` reads further keys of the mechanism with the precedence of Kafka: with the prefix of listener and
    mechanism, with that of the listener, then without. `reauth_ms_max` is connections.max.reauth.ms of a
    listener (KIP-368), 0 without a limit. `tokens` is what a listener with OAUTHBEARER accepts, `login` how a
    client with OAUTHBEARER gets its own; None otherwise, or when something is wrong.
    """

    def __init__(
        self,
        mechanism: str,
        jaas: JaasContext,
        values: PrefixedValues,
        *,
        reauth_ms_max: int = 0,
        tokens: OAuthBearerServerConfig | None = None,
        login: OAuthBearerClientConfig | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.jaas = jaas
        self.values = values
        self.reauth_ms_max = reauth_ms_max
        self.tokens = tokens
        self.login = login

    @property
    def options(self) -> dict[str, str]:
        """The options of the mechanism's JAAS entry: `username`, `password`, `user_alice`, ..."""
        return self.jaas.options(LOGIN_MODULE_OF[self.mechanism])


class SaslListenerConfig:
    """The mechanisms of a listener, in the order of sasl.enabled.mechanisms.

    `receive_bytes_max` limits a frame before a client is authenticated.
    """

    def __init__(self, mechanisms: dict[str, SaslMechanismConfig], receive_bytes_max: int) -> None:
        self.mechanisms = mechanisms
        self.receive_bytes_max = receive_bytes_max


def read_listener_sasl_config(
    config_values: ConfigValues, listener: str, login_configuration: LoginConfiguration | None
) -> SaslListenerConfig:
    """Reads the keys of a listener that others connect to; `config_values` notes what is wrong."""
    prefix = f"listener.name.{listener.lower()}."
    values = PrefixedValues(config_values, prefix)
    refuse_principal_builder(values)
    mechanisms: dict[str, SaslMechanismConfig] = {}
    names = values.names(ENABLED_MECHANISMS, GSSAPI)
    if not names:
        values.missing(ENABLED_MECHANISMS, f"listener {listener} uses SASL; {ALLOWED}")
    for name in names:
        if _require_known(values, ENABLED_MECHANISMS, name):
            of_mechanism = PrefixedValues(config_values, f"{prefix}{name.lower()}.", prefix)
            refuse_server_classes(config_values, f"{prefix}{name.lower()}.", name)
            jaas = _server_context(config_values, listener, name, login_configuration)
            tokens = None
            if name == OAUTHBEARER:
                tokens = read_server_config(config_values, listener, jaas.options(OAUTHBEARER_LOGIN_MODULE))
            mechanisms[name] = SaslMechanismConfig(
                name, jaas, of_mechanism, reauth_ms_max=of_mechanism.int64(REAUTH_MS, 0), tokens=tokens
            )
    return SaslListenerConfig(mechanisms, values.int32(RECEIVE_SIZE, RECEIVE_BYTES_MAX, 1))


def read_controller_sasl_config(
    config_values: ConfigValues, listener: str, login_configuration: LoginConfiguration | None
) -> SaslMechanismConfig | None:
    """Reads how a controller authenticates to others at the first of controller.listener.names.

    As in Kafka, the credentials are those of the JAAS entry of the listener. None when the mechanism is not
    known; `config_values` notes what is wrong.
    """
    mechanism = config_values.text(CONTROLLER_MECHANISM, GSSAPI)
    prefix = f"listener.name.{listener.lower()}."
    if not _require_known(PrefixedValues(config_values), CONTROLLER_MECHANISM, mechanism):
        return None
    refuse_client_classes(PrefixedValues(config_values, prefix), mechanism)
    refuse_login_classes(config_values, f"{prefix}{mechanism.lower()}.", mechanism)
    jaas = _server_context(config_values, listener, mechanism, login_configuration)
    values = PrefixedValues(config_values, f"{prefix}{mechanism.lower()}.", prefix)
    login = _login(config_values, mechanism, listener, jaas)
    config = SaslMechanismConfig(mechanism, jaas, values, login=login)
    _require_credentials(config_values, config)
    return config


def read_client_sasl_config(
    config_values: ConfigValues, login_configuration: LoginConfiguration | None
) -> SaslMechanismConfig | None:
    """Reads how a client authenticates: sasl.mechanism, and sasl.jaas.config or the section KafkaClient.

    None when the mechanism is not known; `config_values` notes what is wrong.
    """
    values = PrefixedValues(config_values)
    mechanism = values.text(CLIENT_MECHANISM, GSSAPI)
    if not _require_known(values, CLIENT_MECHANISM, mechanism):
        return None
    refuse_client_classes(values, mechanism)
    refuse_login_classes(config_values, "", mechanism)
    jaas = _context(config_values, JAAS_CONFIG, mechanism, login_configuration, (CLIENT_SECTION,))
    login = _login(config_values, mechanism, None, jaas)
    config = SaslMechanismConfig(mechanism, jaas, values, login=login)
    _require_credentials(config_values, config)
    return config


def _login(
    config_values: ConfigValues, mechanism: str, listener: str | None, jaas: JaasContext
) -> OAuthBearerClientConfig | None:
    if mechanism != OAUTHBEARER:
        return None
    return read_client_config(config_values, listener, jaas.options(OAUTHBEARER_LOGIN_MODULE))


def _require_known(values: PrefixedValues, key: str, mechanism: str) -> bool:
    if mechanism in MECHANISMS:
        return True
    if mechanism == GSSAPI:
        default = "" if values.has(key) else ", which is the default,"
        values.refuse(key, mechanism, f"Kerberos{default} is not supported; {ALLOWED}")
    else:
        values.refuse(key, mechanism, ALLOWED)
    return False


def _server_context(
    config_values: ConfigValues,
    listener: str,
    mechanism: str,
    login_configuration: LoginConfiguration | None,
) -> JaasContext:
    key = f"listener.name.{listener.lower()}.{mechanism.lower()}.{JAAS_CONFIG}"
    sections = (f"{listener.lower()}.{SERVER_SECTION}", SERVER_SECTION)
    return _context(config_values, key, mechanism, login_configuration, sections)


def _context(
    config_values: ConfigValues,
    key: str,
    mechanism: str,
    login_configuration: LoginConfiguration | None,
    sections: tuple[str, ...],
) -> JaasContext:
    """Returns a context, which has no login modules when something is wrong."""
    text = config_values.optional_text(key)
    context: JaasContext | None = None
    try:
        if text is not None:
            context = JaasContext(key, [parse_jaas_config(text)])
        elif login_configuration is not None:
            context = login_configuration.context(*sections)
    except JaasError as error:
        _note(config_values, f"Invalid value [hidden] for configuration {key}: {error}")
        return JaasContext(key, [])
    module = LOGIN_MODULE_OF[mechanism]
    if context is None:
        file = f"a file that {KAFKA_OPTS} names: {LOGIN_CONFIG_OPTION}FILE"
        if login_configuration is not None:
            file = login_configuration.file
        _note(
            config_values,
            f'Missing required configuration "{key}": mechanism {mechanism} needs the login module {module}.'
            f" Set it, or a section {' or '.join(sections)} in {file}",
        )
        return JaasContext(key, [])
    if not context.has(module):
        reason = f"mechanism {mechanism} needs the login module {module}"
        _note(config_values, f"Invalid value [hidden] for configuration {context.source}: {reason}")
        return JaasContext(key, [])
    return context


def _note(config_values: ConfigValues, error: str) -> None:
    """Notes what is wrong once, although a listener and a client of it may use the same entry."""
    if error not in config_values.errors:
        config_values.errors.append(error)


def _require_credentials(config_values: ConfigValues, config: SaslMechanismConfig) -> None:
    """Checks that a client has a name and a password, which only OAUTHBEARER does not need."""
    if config.mechanism == OAUTHBEARER or not config.jaas.entries:
        return
    for option in ("username", "password"):
        if not config.options.get(option):
            reason = f"without {option} this side of a connection cannot authenticate by {config.mechanism}"
            _note(config_values, f"Invalid value [hidden] for configuration {config.jaas.source}: {reason}")
