"""The messages whose bytes are in `golden/`: edge values for every schema and version.

A case is made from nothing but the schema's fields, the version and its own name, so that the files keep only
bytes: no case may use a random source or depend on the order of anything.
"""

from __future__ import annotations

from typing import Any

from kraftctl_protocol.message import Field, Message

INTEGER_LIMITS = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}
UNKNOWN_TAGS = [(60, b""), (200, b"\x00\xff later")]
"""No schema has these tags; the second number takes two bytes."""

CASES = ("default", "low", "high", "null", "long", "unknown")


def build(cls: type[Message], version: int, case: str) -> Message:
    """The message of one case; what `version` does not have keeps its default."""
    arguments = {
        field.name: _value(field, version, case, index)
        for index, field in enumerate(cls.FIELDS)
        if field.in_version(version) and case != "default"
    }
    message = cls(**arguments)
    if case == "unknown":
        message.unknown_tagged_fields = list(UNKNOWN_TAGS)
    return message


def is_possible(cls: type[Message], version: int, case: str) -> bool:
    """Unknown tags need a flexible version; a message without fields has only one other case."""
    if case == "unknown":
        return version >= cls.FIRST_FLEXIBLE_VERSION
    return case == "default" or any(field.in_version(version) for field in cls.FIELDS)


def _value(field: Field, version: int, case: str, index: int) -> Any:
    if case == "null" and (field.nullable_in(version) or field.type == "records"):
        return None if field.nullable_in(version) else b""
    if field.type.startswith("[]"):
        count = {"low": 1, "high": 2, "null": 1, "unknown": 1}.get(case, 1 if field.struct else 130)
        inner = "many" if case == "long" and field.struct is None else case
        return [_element(field, field.type[2:], version, inner, index + one) for one in range(count)]
    return _element(field, field.type, version, case, index)


def _element(field: Field, type_: str, version: int, case: str, index: int) -> Any:
    if field.struct is not None:
        return build(field.struct, version, case)
    if type_ in INTEGER_LIMITS:
        low, high = INTEGER_LIMITS[type_]
        return {"low": low, "high": high, "null": index}.get(case, min(high, 1000 + index))
    match type_:
        case "bool":
            return {"low": False, "high": True}.get(case, index % 2 == 0)
        case "float64":
            return {"low": -0.5, "high": 1.7976931348623157e308}.get(case, 1.25 + index)
        case "uuid":
            return {"low": bytes(16), "high": b"\xff" * 16}.get(case, bytes(range(index, index + 16)))
        case "string":
            return {"low": "", "high": f"ключ-鍵-🔑-{index}"}.get(
                case, "long " * 50 if case == "long" else f"s{index}"
            )
        case _:
            return {"low": b"", "high": bytes(range(256))}.get(
                case, b"\x00" * 200 if case == "long" else b"b"
            )
