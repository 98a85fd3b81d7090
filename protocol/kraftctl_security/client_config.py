"""Kafka's client keys for the security of a connection: `security.protocol`, `ssl.*`, `sasl.*`.

Every program that opens connections reads them here: `kraftctl quorum`, `kraftctl-export`.
"""

from __future__ import annotations

import ssl
from typing import Final

from kraftctl_security.authentication_failures import SECURITY_PROTOCOL
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.sasl.client_exchange import NewSaslClient
from kraftctl_security.tls.contexts import client_context
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from kraftctl_security.tls.stores import StoreError

PLAINTEXT: Final = "PLAINTEXT"
SSL: Final = "SSL"
PROTOCOLS: Final = (PLAINTEXT, SSL)
"""In any case, as in Kafka."""


class ClientSecurity:
    """What a connection needs, made of the keys. It holds secrets: it has no text of its own."""

    def __init__(
        self, *, ssl_context: ssl.SSLContext | None = None, new_sasl_client: NewSaslClient | None = None
    ) -> None:
        """Without either, the connection is PLAINTEXT."""
        self.ssl_context = ssl_context
        self.new_sasl_client = new_sasl_client


def read_client_security(values: ConfigValues) -> ClientSecurity:
    """Reads the keys, and the stores that they name; other keys of `values` are left unread.

    Raises ConfigException, which has everything that is wrong, without secrets.
    """
    protocol = values.text(SECURITY_PROTOCOL, PLAINTEXT)
    if protocol.upper() not in PROTOCOLS:
        values.refuse(SECURITY_PROTOCOL, protocol, f"String must be one of: {', '.join(PROTOCOLS)}")
        values.raise_errors()
    ssl_context = _ssl_context(values) if protocol.upper() == SSL else None
    values.raise_errors()
    return ClientSecurity(ssl_context=ssl_context)


def _ssl_context(values: ConfigValues) -> ssl.SSLContext | None:
    config = read_client_ssl_config(values)
    if values.errors:
        return None
    try:
        return client_context(config)
    except StoreError as error:
        raise ConfigException([str(error)]) from error
