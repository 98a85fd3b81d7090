"""Configurations whose values may be shown: those that Kafka defines and that are not of type PASSWORD.

Kafka's own redaction treats an unknown key as a secret (a plugin's key may be one), so this module lists the
names that are known not to be secret.
"""

from __future__ import annotations

from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, GROUP, TOPIC
from kraftctl_protocol.readable_config_names import (
    READABLE_BROKER_CONFIGS,
    READABLE_CLIENT_METRICS_CONFIGS,
    READABLE_GROUP_CONFIGS,
    READABLE_TOPIC_CONFIGS,
)

_READABLE = {
    TOPIC: READABLE_TOPIC_CONFIGS,
    BROKER: READABLE_BROKER_CONFIGS,
    CLIENT_METRICS: READABLE_CLIENT_METRICS_CONFIGS,
    GROUP: READABLE_GROUP_CONFIGS,
}


def is_readable(resource_type: int, name: str) -> bool:
    """Returns whether the value of this configuration is known not to be a secret."""
    return name in _READABLE.get(resource_type, frozenset())


def readable_names(resource_type: int) -> frozenset[str]:
    return _READABLE.get(resource_type, frozenset())
