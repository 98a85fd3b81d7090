"""The key min.insync.replicas, of which the image counts partitions, and its stored values."""

from __future__ import annotations

from typing import Final

from kraftctl.metadata.config_definitions.config_key import InvalidConfigValueError
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"

INHERITED: Final = 0
"""No topic can have this value: it replaces one that is absent, or that the key cannot have."""


def own_min_isr(text: str | None) -> int:
    """Returns the number that a topic's own config has, or INHERITED."""
    if text is None:
        return INHERITED
    try:
        value = TOPIC_CONFIG_KEYS[MIN_INSYNC_REPLICAS].parse(text)
    except InvalidConfigValueError:
        return INHERITED
    assert isinstance(value, int)
    return value
