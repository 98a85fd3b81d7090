"""The text with which a broker describes a config: that of the value it has read, not the one that was set.

So 0.50 is described as 0.5, and a list without the blanks around its commas.
"""

from __future__ import annotations

from enum import IntEnum

from kraftctl_protocol.java_values import (
    parse_boolean,
    parse_double,
    parse_integer,
    split_list,
    trim,
    written_double,
)


class ConfigType(IntEnum):
    """The types of a config in DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def described_value(value: str, kind: int) -> str:
    """Returns the text of a value of a ConfigType; of an unknown type, and where it is not valid, as it is.

    What is described already stays the same.
    """
    trimmed = trim(value)
    if kind in BITS:
        number = parse_integer(trimmed, BITS[ConfigType(kind)])
        return value if number is None else str(number)
    if kind == ConfigType.BOOLEAN:
        is_true = parse_boolean(trimmed)
        return value if is_true is None else str(is_true).lower()
    if kind == ConfigType.DOUBLE:
        fraction = parse_double(trimmed)
        return value if fraction is None else written_double(fraction)
    if kind == ConfigType.LIST:
        return ",".join(dict.fromkeys(split_list(trimmed)))  # Each once, as Kafka's ValidList has it.
    return trimmed if kind in (ConfigType.STRING, ConfigType.CLASS) else value
