"""The numbers of requests for Kafka's names, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_spark.rows.kafka_names import ACL_RESOURCES, OPERATIONS, PATTERN_TYPES, PERMISSIONS

ACL_FIELDS: Final[dict[str, Mapping[int, str]]] = {
    "resource_type": ACL_RESOURCES,
    "pattern_type": PATTERN_TYPES,
    "operation": OPERATIONS,
    "permission": PERMISSIONS,
}

NUMBER_MAX: Final = 127
"""The numbers of types, operations and permissions are bytes."""


def acl_number(field: str, name: str) -> int:
    """Returns the number of a name in a field of an ACL; ValueError for a name that is none."""
    return _number(ACL_FIELDS[field], name)


def acl_name(field: str, number: int) -> str:
    """Returns the name, or the number itself where only a newer Kafka has a name."""
    return ACL_FIELDS[field].get(number, str(number))


def resource_number(name: str) -> int:
    """Returns the number of a type of resources that have configs; ValueError for a name that is none."""
    return _number(CONFIG_RESOURCES, name)


def _number(names: Mapping[int, str], name: str) -> int:
    for number, known in names.items():
        if known == name:
            return number
    if name.isdecimal() and 0 < int(name) <= NUMBER_MAX:
        return int(name)
    raise ValueError(f"{name!r} is none of {', '.join(names.values())}")
