"""Kafka's client keys, as its tools take them in a --command-config file.

That file may be the properties file of a controller, too, so other keys are ignored, as in Kafka; those that
begin with the name of a listener as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftctl_admin.errors import AdminError
from kraftctl_security.client_config import ClientSecurity, read_client_security
from kraftctl_security.config_values import ConfigException, ConfigValues

DEFAULT_API_TIMEOUT_MS = "default.api.timeout.ms"


@dataclass(frozen=True)
class ClientConfig:
    """The settings of a client; the defaults are those of Kafka's AdminClientConfig."""

    client_id: str = "kraftctl"
    connection_setup_timeout_ms: int = 10_000
    request_timeout_ms: int = 30_000
    """The time that one node may take for one response."""
    default_api_timeout_ms: int = 60_000
    """The time that an operation may take, with all nodes that are asked."""
    retry_backoff_ms: int = 100
    security: ClientSecurity = field(default_factory=ClientSecurity)
    """The security of connections; PLAINTEXT by default."""


def parse_client_config(properties: dict[str, str]) -> ClientConfig:
    """Parses the keys; AdminError names a wrong key and what is allowed."""
    default = ClientConfig()
    return ClientConfig(
        client_id=properties.get("client.id", default.client_id),
        connection_setup_timeout_ms=_milliseconds(
            properties, "socket.connection.setup.timeout.ms", default.connection_setup_timeout_ms
        ),
        request_timeout_ms=_milliseconds(properties, "request.timeout.ms", default.request_timeout_ms),
        default_api_timeout_ms=_milliseconds(
            properties, DEFAULT_API_TIMEOUT_MS, default.default_api_timeout_ms
        ),
        retry_backoff_ms=_milliseconds(properties, "retry.backoff.ms", default.retry_backoff_ms),
        security=_security(properties),
    )


def _security(properties: dict[str, str]) -> ClientSecurity:
    try:
        return read_client_security(ConfigValues(properties))
    except ConfigException as error:
        raise AdminError(str(error)) from error


def _milliseconds(properties: dict[str, str], key: str, default: int) -> int:
    text = properties.get(key, str(default)).strip()
    if not text.isdecimal() or int(text) == 0:
        raise AdminError(f"{key}={text} is not a number of milliseconds: give a whole number above 0.")
    return int(text)
