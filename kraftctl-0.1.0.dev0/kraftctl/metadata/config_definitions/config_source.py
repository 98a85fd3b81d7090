"""The source of an effective configuration value: codes of CreateTopics and DescribeConfigs."""

from __future__ import annotations

from typing import Final

TOPIC_CONFIG: Final = 1
DYNAMIC_BROKER_CONFIG: Final = 2
DYNAMIC_DEFAULT_BROKER_CONFIG: Final = 3
STATIC_BROKER_CONFIG: Final = 4
DEFAULT_CONFIG: Final = 5
DYNAMIC_BROKER_LOGGER_CONFIG: Final = 6
CLIENT_METRICS_CONFIG: Final = 7
GROUP_CONFIG: Final = 8
