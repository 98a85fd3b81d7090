"""The dynamic broker configs that a controller changes while it runs, by subject.

They are those of Kafka's controller: `addReconfigurables(controller)` of DynamicBrokerConfig. Threads,
metrics reporters and quota callbacks, which it changes as well, do not exist here.
"""

from __future__ import annotations

import re
from typing import Final

MAX_CONNECTIONS: Final = "max.connections"
MAX_CONNECTIONS_PER_IP: Final = "max.connections.per.ip"
MAX_CONNECTIONS_PER_IP_OVERRIDES: Final = "max.connections.per.ip.overrides"
MAX_CONNECTION_CREATION_RATE: Final = "max.connection.creation.rate"

LIMIT_KEYS: Final = (
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_IP,
    MAX_CONNECTIONS_PER_IP_OVERRIDES,
    MAX_CONNECTION_CREATION_RATE,
)
"""These are set for one node, or for all: Kafka's SocketServer.RECONFIGURABLE_CONFIGS."""

LISTENER_LIMIT_KEYS: Final = (MAX_CONNECTIONS, MAX_CONNECTION_CREATION_RATE)
"""These may have a listener's prefix: Kafka's SocketServer.LISTENER_RECONFIGURABLE_CONFIGS."""

STORE_KEYS: Final = (
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.truststore.certificates",
)
"""These are set for one node, with the prefix of a listener: Kafka's SslConfigs.RECONFIGURABLE_CONFIGS."""

TRUST_KEYS: Final = (
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.certificates",
)
"""Those of STORE_KEYS that decide whose certificates a listener accepts. No other dynamic config of a
controller has a part in whom it trusts: what else decides that is read at the start."""

DYNAMIC_TRUST: Final = "kraftctl.dynamic.trust"
"""Kafka has no such key: there, who may alter configs may change whom a node trusts."""

_TRUST_ENDS: Final = tuple([f".{key}" for key in TRUST_KEYS])
_LISTENER_KEY = re.compile(r"(listener\.name\.[^.]*\.)(.*)", re.DOTALL)


def changes_trust(key: str) -> bool:
    """Returns whether a dynamic config with this key would change whom a listener trusts.

    The name of a listener may have dots, which splitting a key does not know.
    """
    return key.startswith("listener.name.") and key.endswith(_TRUST_ENDS)


def split_listener_key(key: str) -> tuple[str, str]:
    """Returns a listener's prefix, or "", and the key without it, as Kafka's DynamicBrokerConfig does."""
    if not key.startswith("listener.name."):
        return "", key
    found = _LISTENER_KEY.fullmatch(key)
    return ("", key) if found is None else (found.group(1), found.group(2))


def is_limit(key: str) -> bool:
    """Returns whether a controller applies a dynamic config with this key to its connections."""
    prefix, base = split_listener_key(key)
    return base in (LISTENER_LIMIT_KEYS if prefix else LIMIT_KEYS)
