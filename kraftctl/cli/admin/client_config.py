"""Kafka's client keys, as its tools take them in a --command-config file.

That file may be the properties file of a controller, too, so other keys are ignored, as in Kafka; those that
begin with the name of a listener as well. Connections are PLAINTEXT or SSL: another security.protocol is
refused, because an operator would rely on it.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from kraftctl.cli.admin.errors import AdminError
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import client_context
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from kraftctl_security.tls.stores import StoreError

SECURITY_PROTOCOL = "security.protocol"
PLAINTEXT = "PLAINTEXT"
SSL = "SSL"


@dataclass(frozen=True)
class ClientConfig:
    """How to talk to a cluster; the defaults are those of Kafka's AdminClientConfig."""

    client_id: str = "kraftctl"
    connection_setup_timeout_ms: int = 10_000
    request_timeout_ms: int = 30_000
    """How long one node may take to answer one request."""
    default_api_timeout_ms: int = 60_000
    """How long an operation may take, with all nodes that are asked."""
    retry_backoff_ms: int = 100
    ssl_context: ssl.SSLContext | None = None
    """None for PLAINTEXT."""


def parse_client_config(properties: Mapping[str, str]) -> ClientConfig:
    """Raises AdminError that names the key and what is allowed."""
    protocol = properties.get(SECURITY_PROTOCOL, PLAINTEXT).strip()
    if protocol.upper() not in (PLAINTEXT, SSL):
        raise AdminError(
            f"{SECURITY_PROTOCOL}={protocol} is not supported, only {PLAINTEXT} and {SSL} are. Next step:"
            " name a listener of that kind."
        )
    default = ClientConfig()
    return ClientConfig(
        client_id=properties.get("client.id", default.client_id),
        connection_setup_timeout_ms=_milliseconds(
            properties, "socket.connection.setup.timeout.ms", default.connection_setup_timeout_ms
        ),
        request_timeout_ms=_milliseconds(properties, "request.timeout.ms", default.request_timeout_ms),
        default_api_timeout_ms=_milliseconds(
            properties, "default.api.timeout.ms", default.default_api_timeout_ms
        ),
        retry_backoff_ms=_milliseconds(properties, "retry.backoff.ms", default.retry_backoff_ms),
        ssl_context=_ssl_context(properties) if protocol.upper() == SSL else None,
    )


def _ssl_context(properties: Mapping[str, str]) -> ssl.SSLContext:
    values = ConfigValues(dict(properties))
    config = read_client_ssl_config(values)
    if values.errors:
        raise AdminError("\n".join(values.errors))
    try:
        return client_context(config)
    except StoreError as error:
        raise AdminError(str(error)) from error


def _milliseconds(properties: Mapping[str, str], key: str, default: int) -> int:
    text = properties.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) == 0:
        raise AdminError(f"{key}={text} is not a number of milliseconds: give a whole number above 0.")
    return int(text)
