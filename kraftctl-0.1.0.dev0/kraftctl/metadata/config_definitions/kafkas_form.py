"""Writes values as Kafka describes them: parsed, and written again (ConfigDef.convertToString)."""

from __future__ import annotations

from kraftctl.metadata.config_definitions.config_key import (
    BOOLEAN,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl_protocol.java_values import written_double


def in_kafkas_form(kind: str, text: str, *, distinct: bool = False) -> str:
    """Returns a value of this type as Kafka writes it; one that the type cannot have stays as it is.

    `distinct`: each item of a LIST counts once.
    """
    try:
        value = parse_value("", kind, text)
    except InvalidConfigValueError:
        return text
    if kind == BOOLEAN:
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(dict.fromkeys(value) if distinct else value)
    if isinstance(value, float):
        return written_double(value)
    return str(value)
