"""Messages as JSON values and back, in the shape of Kafka's own `*JsonConverter` classes.

Wire names in camelCase; bytes as base64, UUIDs as 22 characters; a tagged field is left out while it has its
default, every other field of the version is there. Unknown tagged fields have no place in this form.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, TypeVar

from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string

MessageT = TypeVar("MessageT", bound=Message)

INTEGER_RANGES: Final[dict[str, tuple[int, int]]] = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
}


def camel_case(wire_name: str) -> str:
    """Returns the key of a field: its schema name with a small first letter."""
    return wire_name[0].lower() + wire_name[1:]


def to_json(message: Message, version: int, serialize_records: bool = True) -> dict[str, Any]:
    """Returns the JSON object of `message`; EncodeError if `version` cannot express it.

    Without `serialize_records`, record data is replaced by its size, under `<name>SizeInBytes`. With it the
    data itself is there, so that nothing is lost; Kafka's converters write an empty string instead.
    """
    _check_version(message, version)
    return _struct_to_json(message, version, serialize_records)


def _check_version(message: Message, version: int) -> None:
    if not message.LOWEST_VERSION <= version <= message.HIGHEST_VERSION:
        raise EncodeError(f"{message.NAME} has no version {version}")


def _struct_to_json(message: Message, version: int, serialize_records: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if not field.in_version(version):
            if not field.ignorable and not field.is_default(value):
                raise EncodeError(f"{field.wire_name} is set, but version {version} does not have it")
        elif not (field.tagged_in(version) and field.is_default(value)):
            key = camel_case(field.wire_name)
            if field.type == "records" and not serialize_records and value is not None:
                result[key + "SizeInBytes"] = len(value)
            else:
                result[key] = _value_to_json(field, value, version, serialize_records)
    return result


def _value_to_json(field: Field, value: Any, version: int, serialize_records: bool) -> Any:
    if value is None:
        if not field.nullable_in(version) and field.type != "records":
            raise EncodeError(f"{field.wire_name} is null, which version {version} does not allow")
        return None
    if field.type.startswith("[]"):
        return [_element_to_json(field.type[2:], one, version, serialize_records) for one in value]
    return _element_to_json(field.type, value, version, serialize_records)


def _element_to_json(type_: str, value: Any, version: int, serialize_records: bool) -> Any:
    if isinstance(value, Message):
        return _struct_to_json(value, version, serialize_records)
    if type_ == "uuid":
        return uuid_to_string(value)
    if type_ in ("bytes", "records"):
        return base64.b64encode(value).decode("ascii")
    return value


def from_json(cls: type[MessageT], value: object, version: int) -> MessageT:
    """The message that the JSON object `value` describes; DecodeError if it is not one of that version.

    As in Kafka, every field of the version must be there unless it is tagged; other keys are ignored.
    """
    if not cls.LOWEST_VERSION <= version <= cls.HIGHEST_VERSION:
        raise DecodeError(f"{cls.NAME} has no version {version}")
    message = _struct_from_json(cls, value, version)
    assert isinstance(message, cls)
    return message


def _struct_from_json(cls: type[Message], value: object, version: int) -> Message:
    if not isinstance(value, dict):
        raise DecodeError(f"{cls.NAME}: expected an object, got {type(value).__name__}")
    arguments: dict[str, Any] = {}
    for field in cls.FIELDS:
        if not field.in_version(version):
            continue
        key = camel_case(field.wire_name)
        if key in value:
            arguments[field.name] = _value_from_json(cls, field, value[key], version)
        elif not field.tagged_in(version):
            raise DecodeError(f"{cls.NAME}: {key} is missing, and version {version} has to have it")
    return cls(**arguments)


def _value_from_json(cls: type[Message], field: Field, value: Any, version: int) -> Any:
    where = f"{cls.NAME}.{field.wire_name}"
    if value is None:
        if not field.nullable_in(version) and field.type != "records":
            raise DecodeError(f"{where}: null where it is not allowed")
        return None
    if not field.type.startswith("[]"):
        return _element_from_json(where, field, field.type, value, version)
    if not isinstance(value, list):
        raise DecodeError(f"{where}: expected an array, got {type(value).__name__}")
    element_type = field.type[2:]
    return [_element_from_json(where, field, element_type, one, version) for one in value]


def _element_from_json(where: str, field: Field, type_: str, value: Any, version: int) -> Any:
    if field.struct is not None:
        return _struct_from_json(field.struct, value, version)
    if type_ == "bool":
        return _checked(where, bool, value)
    if type_ == "float64":
        return _checked(where, float, value)
    if type_ in INTEGER_RANGES:
        number = _checked(where, int, value)
        lowest, highest = INTEGER_RANGES[type_]
        if isinstance(value, bool) or not lowest <= number <= highest:
            raise DecodeError(f"{where}: {value} does not fit {type_}")
        return number
    text = _checked(where, str, value)
    if type_ == "string":
        return text
    try:
        return uuid_from_string(text) if type_ == "uuid" else base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error) as error:
        raise DecodeError(f"{where}: {error}") from error


def _checked(where: str, wanted: type, value: Any) -> Any:
    if not isinstance(value, wanted):
        raise DecodeError(f"{where}: expected {wanted.__name__}, got {type(value).__name__}")
    return value
