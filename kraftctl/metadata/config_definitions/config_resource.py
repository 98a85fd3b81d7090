"""The kinds of things that have a dynamic configuration, with the numbers the wire and the log use."""

from __future__ import annotations

from typing import Final

UNKNOWN: Final = 0
TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32

KNOWN_TYPES: Final = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)

CLUSTER_DEFAULT_NAME: Final = ""
"""The BROKER resource of this name holds what applies to every broker."""


def type_name(resource_type: int) -> str:
    """For messages."""
    names = {TOPIC: "TOPIC", BROKER: "BROKER", BROKER_LOGGER: "BROKER_LOGGER"}
    names |= {CLIENT_METRICS: "CLIENT_METRICS", GROUP: "GROUP"}
    return names.get(resource_type, f"UNKNOWN ({resource_type})")
