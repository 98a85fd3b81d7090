"""The types of resources that have dynamic configs, by the numbers of the wire and of ConfigRecord."""

from __future__ import annotations

from typing import Final

TOPIC: Final = 2
BROKER: Final = 4
BROKER_LOGGER: Final = 8
CLIENT_METRICS: Final = 16
GROUP: Final = 32

NAMES: Final[dict[int, str]] = {
    TOPIC: "TOPIC",
    BROKER: "BROKER",
    BROKER_LOGGER: "BROKER_LOGGER",
    CLIENT_METRICS: "CLIENT_METRICS",
    GROUP: "GROUP",
}
"""The names of all known types."""

CLUSTER_DEFAULT: Final = ""
"""The BROKER resource of this name holds what applies to every broker."""


def type_name(resource_type: int) -> str:
    """Returns the name of a type as error messages show it."""
    return NAMES.get(resource_type, f"UNKNOWN ({resource_type})")
