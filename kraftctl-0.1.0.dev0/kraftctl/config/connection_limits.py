"""The limits on connections and on their rate: of all listeners, of an address, of a listener."""

from __future__ import annotations

import ipaddress
from typing import Final

from kraftctl.config.dynamic_keys import (
    MAX_CONNECTION_CREATION_RATE,
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_IP,
    MAX_CONNECTIONS_PER_IP_OVERRIDES,
)
from kraftctl.config.endpoints import split_map
from kraftctl_protocol.java_values import parse_integer, trim
from kraftctl_security.config_values import INT_MAX, ConfigValues
from kraftctl_security.tls.ssl_config import listener_prefix

RATE_WINDOW_SECONDS: Final = 10
"""After a quiet time this long, as many connections may come together: Kafka's quota.window.num, 11 of
one second, of which the last one is not over. No dynamic config changes it."""


class ListenerLimits:
    """The limits of one listener. One without its prefix is the limit of each listener, and of all
    together.
    """

    def __init__(self, max_connections: int, max_connection_creation_rate: int) -> None:
        self.max_connections = max_connections
        self.max_connection_creation_rate = max_connection_creation_rate


class ConnectionLimits:
    """The limits, read from the properties of a file, or from those with dynamic configs over them."""

    def __init__(self, values: ConfigValues, listeners: list[str]) -> None:
        self.max_connections = values.int32(MAX_CONNECTIONS, INT_MAX, 0)
        self.max_connections_per_ip = values.int32(MAX_CONNECTIONS_PER_IP, INT_MAX, 0)
        self.max_connections_per_ip_overrides = _per_ip_overrides(values)
        self.max_connection_creation_rate = values.int32(MAX_CONNECTION_CREATION_RATE, INT_MAX, 0)
        self.listeners: dict[str, ListenerLimits] = {}
        for listener in listeners:
            prefix = listener_prefix(listener)
            self.listeners[listener] = ListenerLimits(
                values.int32(prefix + MAX_CONNECTIONS, self.max_connections, 0),
                values.int32(prefix + MAX_CONNECTION_CREATION_RATE, self.max_connection_creation_rate, 0),
            )
        if self.max_connections_per_ip == 0 and not self.max_connections_per_ip_overrides:
            values.refuse(
                MAX_CONNECTIONS_PER_IP,
                "0",
                f"zero is for use together with {MAX_CONNECTIONS_PER_IP_OVERRIDES}",
            )


def _per_ip_overrides(values: ConfigValues) -> dict[str, int]:
    """Returns the limits by address, in the text form of `client_address`."""
    key = MAX_CONNECTIONS_PER_IP_OVERRIDES
    overrides: dict[str, int] = {}
    for entry in split_map(values.text(key)):
        host, _, count = entry.rpartition(":")
        number = parse_integer(trim(count), 32)
        if not trim(host) or number is None or number < 0:
            values.refuse(key, values.text(key), f"'{entry}' needs a host, and a count of 0 or more")
        else:
            overrides[_address(trim(host).strip("[]"))] = number
    return overrides


def _address(host: str) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host
