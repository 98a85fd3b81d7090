"""Every message survives encoding and decoding; any bytes decode or raise DecodeError."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.json_converter import from_json, to_json
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from tests.protocol.golden_cases import INTEGER_LIMITS
from tests.protocol.golden_files import read_golden
from tests.support.effort import examples

MESSAGES = [pytest.param(cls, id=cls.NAME) for cls in all_messages()]

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": st.text(max_size=20),
    "bytes": st.binary(max_size=20),
    "records": st.binary(max_size=20),
} | {type_: st.integers(low, high) for type_, (low, high) in INTEGER_LIMITS.items()}


def messages(cls: type[Message], version: int) -> st.SearchStrategy[Message]:
    """Any message that `version` can say, without unknown tags."""
    fields = {field.name: values(field, version) for field in cls.FIELDS if field.in_version(version)}
    return st.fixed_dictionaries(fields).map(lambda arguments: cls(**arguments))


def values(field: Field, version: int) -> st.SearchStrategy[Any]:
    type_ = field.type.removeprefix("[]")
    one = messages(field.struct, version) if field.struct is not None else SCALARS[type_]
    if field.type.startswith("[]"):
        one = st.lists(one, max_size=3)
    return st.none() | one if field.nullable_in(version) else one


@pytest.mark.parametrize("cls", MESSAGES)
@examples(15)
@given(data=st.data())
def test_round_trip(cls: type[Message], data: st.DataObject) -> None:
    version = data.draw(st.integers(cls.LOWEST_VERSION, cls.HIGHEST_VERSION))
    message = data.draw(messages(cls, version))
    encoded = message.encode(version)
    assert cls.decode(encoded, version) == message
    assert from_json(cls, to_json(message, version), version) == message
    if version >= cls.FIRST_FLEXIBLE_VERSION:
        message.unknown_tagged_fields = [(100, b"later"), (20_000, b"")]
        assert cls.decode(message.encode(version), version) == message


@pytest.mark.parametrize("cls", MESSAGES)
def test_every_truncation_is_a_decode_error(cls: type[Message]) -> None:
    for golden in read_golden(cls):
        step = 1 if len(golden.data) < 300 else 37
        for size in range(0, len(golden.data), step):
            with pytest.raises(DecodeError):
                cls.decode(golden.data[:size], golden.version)
        with pytest.raises(DecodeError):
            cls.decode(golden.data + b"\x00", golden.version)


@pytest.mark.parametrize("cls", MESSAGES)
def test_damaged_bytes_decode_or_raise_decode_error(cls: type[Message]) -> None:
    """Every byte of a message that has something in every field, replaced by what hurts most."""
    rng = random.Random(cls.NAME)
    for golden in read_golden(cls):
        if golden.case not in ("null", "unknown"):
            continue
        for position in range(0, len(golden.data), 1 + len(golden.data) // 60):
            for byte in (0x00, 0x7F, 0x80, 0xFF, rng.randrange(256)):
                damaged = bytearray(golden.data)
                damaged[position] = byte
                try:
                    cls.decode(bytes(damaged), golden.version)
                except DecodeError:
                    continue


@pytest.mark.parametrize("cls", MESSAGES)
@examples(12)
@given(data=st.binary(max_size=200), where=st.integers(0, 1000))
def test_arbitrary_bytes_decode_or_raise_decode_error(cls: type[Message], data: bytes, where: int) -> None:
    version = cls.LOWEST_VERSION + where % (cls.HIGHEST_VERSION - cls.LOWEST_VERSION + 1)
    try:
        message = cls.decode(data, version)
    except DecodeError:
        return
    try:
        again = message.encode(version)
    except EncodeError:
        assert has_tags(message)
        return
    assert cls.decode(again, version) == message or "nan" in repr(message)


def has_tags(message: Message) -> bool:
    """Kafka lets a peer repeat a tag, but would never write one twice: nor do we."""
    inner = [getattr(message, field.name) for field in message.FIELDS if field.struct is not None]
    flat = [one for value in inner for one in (value if isinstance(value, list) else [value])]
    return bool(message.unknown_tagged_fields) or any(has_tags(one) for one in flat if one is not None)


@pytest.mark.parametrize("cls", MESSAGES)
def test_versions_outside_of_the_range_are_refused(cls: type[Message]) -> None:
    for version in (cls.LOWEST_VERSION - 1, cls.HIGHEST_VERSION + 1, -1, 32767):
        if cls.LOWEST_VERSION <= version <= cls.HIGHEST_VERSION:
            continue
        with pytest.raises(EncodeError):
            cls().encode(version)
        with pytest.raises(DecodeError):
            cls.decode(bytes(100), version)
        with pytest.raises(EncodeError):
            to_json(cls(), version)
        with pytest.raises(DecodeError):
            from_json(cls, {}, version)


def a_value_that_is_set(field: Field) -> Any:
    if field.type.startswith("[]"):
        return [field.struct()] if field.struct is not None else [ELEMENTS[field.type[2:]]]
    if field.struct is not None:
        struct = field.struct()
        first = field.struct.FIELDS[0]
        setattr(struct, first.name, a_value_that_is_set(first))
        return struct
    return not field.default if field.type == "bool" else ELEMENTS[field.type]


ELEMENTS: dict[str, Any] = {
    "int8": 77, "int16": 77, "uint16": 77, "uint32": 77, "int32": 77, "int64": 77, "float64": 7.5,
    "string": "x", "uuid": b"x" * 16, "bytes": b"x", "records": b"x", "bool": True,
}  # fmt: skip


@pytest.mark.parametrize("cls", MESSAGES)
def test_a_field_that_the_version_lacks(cls: type[Message]) -> None:
    """Ignorable ones are dropped, all others are an EncodeError, as bytes and as JSON."""
    for version in range(cls.LOWEST_VERSION, cls.HIGHEST_VERSION + 1):
        plain = cls().encode(version)
        for field in cls.FIELDS:
            if field.in_version(version):
                continue
            message = cls(**{field.name: a_value_that_is_set(field)})
            if field.ignorable:
                assert message.encode(version) == plain
                continue
            with pytest.raises(EncodeError, match=field.wire_name):
                message.encode(version)
            with pytest.raises(EncodeError, match=field.wire_name):
                to_json(message, version)


@pytest.mark.parametrize("cls", MESSAGES)
def test_integers_out_of_range_and_strings_too_long(cls: type[Message]) -> None:
    for version in range(cls.LOWEST_VERSION, cls.HIGHEST_VERSION + 1):
        for field in cls.FIELDS:
            if not field.in_version(version):
                continue
            bad: list[Any] = []
            if field.type in INTEGER_LIMITS:
                low, high = INTEGER_LIMITS[field.type]
                bad = [low - 1, high + 1, 1 << 80]
            elif field.type == "string":
                bad = ["x" * 32768, "é" * 16384]
            elif field.type == "uuid":
                bad = [b"", bytes(15), bytes(17)]
            for value in bad:
                with pytest.raises(EncodeError):
                    cls(**{field.name: value}).encode(version)
