"""Kafka's definitions of the configs of each type of resource."""

from __future__ import annotations

from typing import Final

from kraftctl.metadata.config_definitions.config_key import ConfigKey
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.client_metrics_config_data import (
    CLIENT_METRICS_CONFIG_KEYS,
)
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, GROUP, TOPIC

_KEYS: Final[dict[int, dict[str, ConfigKey]]] = {
    TOPIC: TOPIC_CONFIG_KEYS,
    BROKER: BROKER_CONFIG_KEYS,
    GROUP: GROUP_CONFIG_KEYS,
    CLIENT_METRICS: CLIENT_METRICS_CONFIG_KEYS,
}
_NO_KEYS: Final[dict[str, ConfigKey]] = {}


def config_keys(resource_type: int) -> dict[str, ConfigKey]:
    """Returns the definitions by name; empty for a type whose configs the log does not keep."""
    return _KEYS.get(resource_type, _NO_KEYS)
