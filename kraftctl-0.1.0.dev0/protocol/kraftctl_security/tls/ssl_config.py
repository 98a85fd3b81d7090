"""SslConfig: the keys `ssl.*` of a listener or of a client, with Kafka's names, defaults and checks.

Nothing is read from files here. A key that only a JVM can obey is refused when ignoring it would weaken what
its operator relies on; the others are listed as unused.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.prefixed_values import PrefixedValues
from kraftctl_security.tls.cipher_suites import OPENSSL_NAMES, TLS_1_3_SUITES
from kraftctl_security.tls.ssl_principal_mapper import RuleError, SslPrincipalMapper
from kraftctl_security.tls.ssl_stores import KeyStoreConfig, TrustStoreConfig, read_keystore, read_truststore

TLS_1_2: Final = "TLSv1.2"
TLS_1_3: Final = "TLSv1.3"
TLS: Final = "TLS"

CLIENT_AUTH: Final = "ssl.client.auth"
CLIENT_AUTH_NONE: Final = "none"
CLIENT_AUTH_REQUESTED: Final = "requested"
CLIENT_AUTH_REQUIRED: Final = "required"

HTTPS: Final = "https"
"""The only algorithm of endpoint identification, besides none, which is an empty value."""

DEFAULT_ENGINE_FACTORY: Final = "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory"


class SslConfig:
    """The values that an SSL context is made of, and how its clients are named.

    `server_protocols` and `client_protocols` are never empty. `cipher_suites` has OpenSSL's names; empty is
    the default of OpenSSL.
    """

    def __init__(
        self,
        *,
        keystore: KeyStoreConfig | None,
        truststore: TrustStoreConfig | None,
        server_protocols: list[str],
        client_protocols: list[str],
        cipher_suites: list[str],
        client_auth: str,
        verifies_host: bool,
        principal_mapper: SslPrincipalMapper,
        allows_dn_changes: bool,
        allows_san_changes: bool,
    ) -> None:
        self.keystore = keystore
        self.truststore = truststore
        self.server_protocols = server_protocols
        self.client_protocols = client_protocols
        self.cipher_suites = cipher_suites
        self.client_auth = client_auth
        self.verifies_host = verifies_host
        self.principal_mapper = principal_mapper
        self.allows_dn_changes = allows_dn_changes
        self.allows_san_changes = allows_san_changes


def listener_prefix(listener: str) -> str:
    """Returns the prefix of a key that is for one listener only."""
    return f"listener.name.{listener.lower()}."


def read_listener_ssl_config(
    config_values: ConfigValues, listener: str, *, with_sasl: bool = False
) -> SslConfig:
    """Reads the keys of a listener that others connect to; `config_values` notes what is wrong.

    `with_sasl`: it asks for certificates only if ssl.client.auth has the prefix of the listener (KIP-684).
    """
    values = PrefixedValues(config_values, listener_prefix(listener))
    config = _read(values)
    if with_sasl and not config_values.has(listener_prefix(listener) + CLIENT_AUTH):
        config.client_auth = CLIENT_AUTH_NONE
    if config.keystore is None:
        values.missing(
            "ssl.keystore.location",
            f"listener {listener} uses SSL and needs a private key and certificates",
        )
    if config.client_auth != CLIENT_AUTH_NONE and config.truststore is None:
        values.missing(
            "ssl.truststore.location",
            f"with ssl.client.auth={config.client_auth} a client needs a certificate that it can be checked"
            " against",
        )
    return config


def read_client_ssl_config(config_values: ConfigValues) -> SslConfig:
    """Reads the keys of a client; it needs neither keystore nor truststore."""
    return _read(PrefixedValues(config_values, ""))


def _read(values: PrefixedValues) -> SslConfig:
    engine = values.text("ssl.engine.factory.class", DEFAULT_ENGINE_FACTORY)
    if engine not in ("", DEFAULT_ENGINE_FACTORY):
        values.refuse(
            "ssl.engine.factory.class",
            engine,
            "a Java class cannot be loaded here, and its rules would not hold",
        )
    suites = _cipher_suites(values)
    protocols = _protocols(values)
    if suites:
        # As in Java: no suite of TLS 1.3 is left.
        protocols = [each for each in protocols if each != TLS_1_3]
        if not protocols:
            values.refuse(
                "ssl.cipher.suites",
                ",".join(values.names("ssl.cipher.suites", "")),
                f"these suites are for {TLS_1_2}, which ssl.enabled.protocols does not have",
            )
    return SslConfig(
        keystore=read_keystore(values),
        truststore=read_truststore(values),
        server_protocols=protocols,
        client_protocols=_client_protocols(values, protocols),
        cipher_suites=suites,
        client_auth=_client_auth(values),
        verifies_host=_verifies_host(values),
        principal_mapper=_principal_mapper(values),
        # KIP-978: whether a new certificate may be for another subject, or lack some of the names.
        allows_dn_changes=values.boolean("ssl.allow.dn.changes", default=False),
        allows_san_changes=values.boolean("ssl.allow.san.changes", default=False),
    )


def _protocols(values: PrefixedValues) -> list[str]:
    """Returns the protocols in ascending order."""
    names = values.names("ssl.enabled.protocols", f"{TLS_1_2},{TLS_1_3}")
    for name in names:
        if name not in (TLS_1_2, TLS_1_3):
            values.refuse("ssl.enabled.protocols", ",".join(names), f"each must be {TLS_1_2} or {TLS_1_3}")
            return [TLS_1_2, TLS_1_3]
    return sorted(names) or [TLS_1_2, TLS_1_3]


def _client_protocols(values: PrefixedValues, protocols: list[str]) -> list[str]:
    """Returns a client's protocols: with an ssl.protocol of TLSv1.2, TLSv1.3 is not used, whatever is
    enabled.
    """
    protocol = values.text("ssl.protocol", TLS_1_3)
    if protocol not in (TLS, TLS_1_2, TLS_1_3):
        values.refuse("ssl.protocol", protocol, f"it must be one of {TLS}, {TLS_1_2}, {TLS_1_3}")
    if protocol != TLS_1_2:
        return protocols
    left = [each for each in protocols if each != TLS_1_3]
    if protocols and not left:
        values.refuse("ssl.protocol", protocol, "ssl.enabled.protocols does not have it")
    return left


def _cipher_suites(values: PrefixedValues) -> list[str]:
    names = values.names("ssl.cipher.suites", "")
    for name in names:
        if name in TLS_1_3_SUITES:
            values.refuse(
                "ssl.cipher.suites",
                ",".join(names),
                f"suites of {TLS_1_3} cannot be chosen here, all are offered. Name suites of {TLS_1_2} only,"
                f" which turns {TLS_1_3} off, or none",
            )
            return []
        if name not in OPENSSL_NAMES:
            allowed = ", ".join(OPENSSL_NAMES)
            values.refuse("ssl.cipher.suites", ",".join(names), f"'{name}' is none of {allowed}")
            return []
    return [OPENSSL_NAMES[name] for name in names]


def _client_auth(values: PrefixedValues) -> str:
    value = values.text(CLIENT_AUTH, CLIENT_AUTH_NONE)
    allowed = [CLIENT_AUTH_REQUIRED, CLIENT_AUTH_REQUESTED, CLIENT_AUTH_NONE]
    if value not in allowed:
        values.refuse(CLIENT_AUTH, value, f"it must be one of {', '.join(allowed)}")
        return CLIENT_AUTH_NONE
    return value


def _verifies_host(values: PrefixedValues) -> bool:
    key = "ssl.endpoint.identification.algorithm"
    value = values.text(key, HTTPS)
    if value.lower() not in ("", HTTPS):
        values.refuse(key, value, f"it must be {HTTPS}, or empty to turn the check of host names off")
    return value != ""


def _principal_mapper(values: PrefixedValues) -> SslPrincipalMapper:
    key = "ssl.principal.mapping.rules"
    rules = values.text(key, "DEFAULT")
    try:
        return SslPrincipalMapper(rules)
    except RuleError as error:
        values.refuse(key, rules, str(error))
        return SslPrincipalMapper("DEFAULT")
