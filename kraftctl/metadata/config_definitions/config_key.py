"""One configuration key as Kafka defines it, and whether a text is a valid value for it.

The rules are those of Kafka's ConfigDef: values are trimmed, numbers are decimal (in the digits of any
script), a LIST is cut at commas.
"""

from __future__ import annotations

import re
from typing import Final

from kraftctl.metadata.config_definitions.validators import AnyValue, Validator

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
"""As in the ConfigType field of DescribeConfigs."""

UNKNOWN_TYPE_CODE: Final = 0

BITS: Final = {SHORT: 16, INT: 32, LONG: 64}

INTEGER = re.compile(r"[+-]?\d+")
DOUBLE_NUMBER = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
BLANKS: Final = "".join([chr(code) for code in range(33)])
"""What Java trims: the space and the control characters before it."""

WHITESPACE: Final = " \t\n\v\f\r"
"""What a regular expression in Java counts as whitespace."""

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
        """The value of `text`; InvalidConfigValueError when it is not valid.

        The last number is remembered, 0.5 us less: each AlterPartition asks for min.insync.replicas.
        """
        known, number = self._last_number
        if text and text == known:
            return number
        value = parse_value(self.name, self.type, text)
        reason = self.validator.why_invalid(value)
        if reason is not None:
            raise InvalidConfigValueError(f"Invalid value {text} for configuration {self.name}: {reason}")
        if type(value) is int:
            self._last_number = (text, value)
        return value


def parse_value(name: str, type_: str, text: str) -> ConfigValue:
    """`text` read as `type_`, without the key's own rule."""
    trimmed = text.strip(BLANKS)
    if type_ == BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise InvalidConfigValueError(f"Invalid value {text} for configuration {name}: not true or false")
        return trimmed.lower() == "true"
    if type_ in BITS:
        return _parse_integer(name, type_, trimmed)
    if type_ == DOUBLE:
        return _parse_double(name, trimmed)
    if type_ == LIST:
        return split_list(trimmed)
    return trimmed


def split_list(text: str) -> list[str]:
    """The items of a LIST value; none at all in blank text."""
    trimmed = text.strip(BLANKS)
    return [item.strip(WHITESPACE) for item in trimmed.split(",")] if trimmed else []


def _parse_integer(name: str, type_: str, text: str) -> int:
    if INTEGER.fullmatch(text) is not None and len(text) <= 32:
        value = int(text)
        limit = 1 << (BITS[type_] - 1)
        if -limit <= value < limit:
            return value
    raise not_a_number(name, type_, text)


def _parse_double(name: str, text: str) -> float:
    if DOUBLE_NUMBER.fullmatch(text) is None:
        raise not_a_number(name, DOUBLE, text)
    return float(text.rstrip("fFdD") if not text.endswith("Infinity") else text)


def not_a_number(name: str, type_: str, text: str) -> InvalidConfigValueError:
    """The error for text where a number should be."""
    return InvalidConfigValueError(
        f"Invalid value {text} for configuration {name}: not a number of type {type_}"
    )
