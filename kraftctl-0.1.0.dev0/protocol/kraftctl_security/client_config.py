"""Kafka's client keys for the security of a connection: `security.protocol`, `ssl.*`, `sasl.*`.

Every program that opens connections reads them here: `kraftctl quorum`, `kraftctl-export`.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Final

from kraftctl_security.authentication_failures import SECURITY_PROTOCOL
from kraftctl_security.client_mechanisms import new_sasl_client_of
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.sasl.mechanism import NewSaslClient
from kraftctl_security.sasl.sasl_config import JAAS_CONFIG, read_client_sasl_config
from kraftctl_security.tls.contexts import client_context
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from kraftctl_security.tls.store_error import StoreError

PLAINTEXT: Final = "PLAINTEXT"
SSL: Final = "SSL"
SASL_PLAINTEXT: Final = "SASL_PLAINTEXT"
SASL_SSL: Final = "SASL_SSL"
PROTOCOLS: Final = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)
"""The protocols, which Kafka accepts in any case."""


class ClientSecurity:
    """The security of a connection, made of the keys. It holds secrets, so it has no text form."""

    def __init__(
        self, *, ssl_context: ssl.SSLContext | None = None, new_sasl_client: NewSaslClient | None = None
    ) -> None:
        """A connection without SSL and SASL is PLAINTEXT."""
        self.ssl_context = ssl_context
        self.new_sasl_client = new_sasl_client


def read_client_security(values: ConfigValues, environment: Mapping[str, str] = os.environ) -> ClientSecurity:
    """Reads the keys, and the files that they name; other keys of `values` are left unread.

    As in Kafka, KAFKA_OPTS of the environment may name a JAAS file, in place of sasl.jaas.config.

    Raises ConfigException, which has everything that is wrong, without secrets.
    """
    protocol = values.text(SECURITY_PROTOCOL, PLAINTEXT)
    if protocol.upper() not in PROTOCOLS:
        values.refuse(SECURITY_PROTOCOL, protocol, f"it must be one of {', '.join(PROTOCOLS)}")
        values.raise_errors()
    ssl_context = _ssl_context(values) if protocol.upper() in (SSL, SASL_SSL) else None
    new_sasl_client = None
    if protocol.upper() in (SASL_PLAINTEXT, SASL_SSL):
        new_sasl_client = _new_sasl_client(values, environment)
    values.raise_errors()
    return ClientSecurity(ssl_context=ssl_context, new_sasl_client=new_sasl_client)


def _ssl_context(values: ConfigValues) -> ssl.SSLContext | None:
    config = read_client_ssl_config(values)
    if values.errors:
        return None
    try:
        return client_context(config)
    except StoreError as error:
        raise ConfigException([str(error)]) from error


def _new_sasl_client(values: ConfigValues, environment: Mapping[str, str]) -> NewSaslClient | None:
    jaas_file = None if values.has(JAAS_CONFIG) else read_jaas_file(environment)
    config = read_client_sasl_config(values, jaas_file)
    if config is None or values.errors:
        return None
    try:
        return new_sasl_client_of(config)
    except StoreError as error:
        raise ConfigException([f"for the issuer of tokens, {error}"]) from error
