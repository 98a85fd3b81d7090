"""One configuration key as Kafka defines it, and whether a text is a valid value for it.

The rules and the sentences are those of Kafka's ConfigDef.
"""

from __future__ import annotations

from typing import Final

from kraftctl.metadata.config_definitions.validators import AnyValue, Validator
from kraftctl_protocol.java_values import parse_boolean, parse_double, parse_integer, split_list, trim

BOOLEAN: Final = "BOOLEAN"
STRING: Final = "STRING"
INT: Final = "INT"
SHORT: Final = "SHORT"
LONG: Final = "LONG"
DOUBLE: Final = "DOUBLE"
LIST: Final = "LIST"
CLASS: Final = "CLASS"
PASSWORD: Final = "PASSWORD"

TYPE_CODES: Final = {
    BOOLEAN: 1, STRING: 2, INT: 3, SHORT: 4, LONG: 5, DOUBLE: 6, LIST: 7, CLASS: 8, PASSWORD: 9,
}  # fmt: skip
"""The codes of the ConfigType field in DescribeConfigs."""

UNKNOWN_TYPE_CODE: Final = 0

BITS: Final = {SHORT: 16, INT: 32, LONG: 64}

ConfigValue = bool | int | float | str | list[str]


class InvalidConfigValueError(ValueError):
    """The text is not a valid value of the key; the message says why."""


class ConfigKey:
    """Name, type, default and rule of one key.

    `default` is the text of the default value, `default_value` the value itself; None when the key has none
    or it is null.
    """

    def __init__(
        self,
        name: str,
        type_: str,
        default: str | None,
        validator: Validator | None = None,
        internal: bool = False,
    ) -> None:
        self.name = name
        self.type = type_
        self.default = default
        self.validator: Validator = AnyValue() if validator is None else validator
        self.internal = internal
        self._last_number: tuple[str, int] = ("", 0)
        self.default_value = None if default is None else self.parse(default)

    @property
    def sensitive(self) -> bool:
        return self.type == PASSWORD

    @property
    def type_code(self) -> int:
        return TYPE_CODES[self.type]

    def parse(self, text: str) -> ConfigValue:
        """Returns the value of `text`; InvalidConfigValueError when it is not valid.

        The last number is remembered, 0.5 us less: each AlterPartition asks for min.insync.replicas.
        """
        known, number = self._last_number
        if text and text == known:
            return number
        value = parse_value(self.name, self.type, text)
        error = self.validator.error(self.name, text, value)
        if error is not None:
            raise InvalidConfigValueError(error)
        if type(value) is int:
            self._last_number = (text, value)
        return value


def parse_value(name: str, type_: str, text: str) -> ConfigValue:
    """Returns `text` read as `type_`, without the key's own rule."""
    trimmed = trim(text)
    if type_ == BOOLEAN:
        boolean = parse_boolean(trimmed)
        if boolean is None:
            raise InvalidConfigValueError(
                f"Invalid value {text} for configuration {name}: it is neither true nor false"
            )
        return boolean
    if type_ in BITS:
        number = parse_integer(trimmed, BITS[type_])
        if number is None:
            raise not_a_number(name, type_, text)
        return number
    if type_ == DOUBLE:
        fraction = parse_double(trimmed)
        if fraction is None:
            raise not_a_number(name, type_, text)
        return fraction
    if type_ == LIST:
        return split_list(trimmed)
    return trimmed


def not_a_number(name: str, type_: str, text: str) -> InvalidConfigValueError:
    """Returns the error for text where a number should be."""
    return InvalidConfigValueError(f"Invalid value {text} for configuration {name}: it is no {type_}")
