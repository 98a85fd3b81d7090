"""Encodes and decodes any message from its schema, at run time: nothing of it is kraftctl's code.

A message is a dictionary by the names of Kafka's schemas; a uuid is its text of 22 characters.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

from tests.differential.schemas import Field, Schema, Versions

Body = dict[str, Any]

INTEGERS = {"int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8}


class Undecodable(Exception):
    """The bytes are not this message."""


def uuid_bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


def uuid_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def varint(value: int) -> bytes:
    """An unsigned varint."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(schema: Schema, version: int, body: Body) -> bytes:
    """Encodes what of `body` this version has; fields that are missing have their defaults."""
    out = bytearray()
    _write_struct(out, schema.fields, version, schema.flexible, body)
    return bytes(out)


def _write_struct(out: bytearray, fields: list[Field], version: int, flexible: Versions, body: Body) -> None:
    tagged: list[tuple[int, bytes]] = []
    for each in fields:
        if version not in each.versions:
            continue
        value = body.get(each.name, each.default)
        if version in each.tagged and version in flexible:
            if value != each.default:
                part = bytearray()
                _write(part, each, version, flexible, value)
                tagged.append((each.tag, bytes(part)))
        else:
            _write(out, each, version, flexible, value)
    if version in flexible:
        out += varint(len(tagged))
        for tag, data in sorted(tagged):
            out += varint(tag) + varint(len(data)) + data


def _write(out: bytearray, field: Field, version: int, flexible: Versions, value: Any) -> None:
    kind = field.type
    compact = version in (flexible if field.flexible is None else field.flexible)
    if kind in INTEGERS:
        size = INTEGERS[kind]
        out += (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
    elif kind == "bool":
        out.append(int(value))
    elif kind == "float64":
        out += struct.pack(">d", value)
    elif kind == "uuid":
        out += uuid_bytes(value)
    elif kind == "string":
        data = None if value is None else value.encode("utf-8", "surrogatepass")
        _write_length(out, data, compact, ">h")
        out += data or b""
    elif kind in ("bytes", "records"):
        _write_length(out, value, compact, ">i")
        out += value or b""
    elif kind.startswith("[]"):
        _write_length(out, value, compact, ">i")
        for item in value or []:
            _write(out, field.element, version, flexible, item)
    else:
        if version in field.nullable:
            out.append(255 if value is None else 1)
        if value is not None:
            _write_struct(out, field.struct, version, flexible, value)


def _write_length(out: bytearray, value: Any, compact: bool, wide: str) -> None:
    if compact:
        out += varint(0 if value is None else len(value) + 1)
    else:
        out += struct.pack(wide, -1 if value is None else len(value))


class Reader:
    """Bytes and a position in them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    def take(self, size: int) -> bytes:
        if size < 0 or self.position + size > len(self.data):
            raise Undecodable(f"{size} bytes wanted at {self.position} of {len(self.data)}")
        self.position += size
        return self.data[self.position - size : self.position]

    def integer(self, size: int, signed: bool = True) -> int:
        return int.from_bytes(self.take(size), "big", signed=signed)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed_varint(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    @property
    def left(self) -> int:
        return len(self.data) - self.position


def decode(schema: Schema, version: int, reader: Reader) -> Body:
    """Decodes a message; the reader is behind it then. Raises Undecodable."""
    return _read_struct(reader, schema.fields, version, schema.flexible)


def _read_struct(reader: Reader, fields: list[Field], version: int, flexible: Versions) -> Body:
    body: Body = {}
    tagged = {}
    for each in fields:
        if version not in each.versions:
            continue
        if version in each.tagged and version in flexible:
            tagged[each.tag] = each
            body[each.name] = each.default
        else:
            body[each.name] = _read(reader, each, version, flexible)
    if version in flexible:
        for _ in range(reader.varint()):
            tag, size = reader.varint(), reader.varint()
            part = reader.take(size)
            if tag in tagged:
                body[tagged[tag].name] = _read(Reader(part), tagged[tag], version, flexible)
            else:
                body[f"tag {tag}"] = part
    return body


def _read(reader: Reader, field: Field, version: int, flexible: Versions) -> Any:
    kind = field.type
    compact = version in (flexible if field.flexible is None else field.flexible)
    if kind in INTEGERS:
        return reader.integer(INTEGERS[kind], signed=not kind.startswith("u"))
    if kind == "bool":
        return bool(reader.take(1)[0])
    if kind == "float64":
        return struct.unpack(">d", reader.take(8))[0]
    if kind == "uuid":
        return uuid_text(reader.take(16))
    if kind == "string":
        size = _size(reader, field, version, 0 if compact else 2)
        return None if size is None else reader.take(size).decode("utf-8", "surrogatepass")
    if kind in ("bytes", "records"):
        size = _size(reader, field, version, 0 if compact else 4)
        return None if size is None else reader.take(size)
    if kind.startswith("[]"):
        count = _size(reader, field, version, 0 if compact else 4)
        element = field.element
        return None if count is None else [_read(reader, element, version, flexible) for _ in range(count)]
    if version in field.nullable and reader.integer(1) < 0:
        return None
    return _read_struct(reader, field.struct, version, flexible)


def _size(reader: Reader, field: Field, version: int, size_bytes: int) -> int | None:
    """Returns how long a value is, None for null; compact sizes have no `size_bytes`."""
    size = reader.integer(size_bytes) if size_bytes else reader.varint() - 1
    if size >= 0:
        return size
    if version not in field.nullable:
        raise Undecodable(f"{field.name} is null")
    return None
