"""Columns hold the values that the generated classes decode, and refuse the same records."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Writer, write_uvarint
from kraftctl_protocol.record_batch import Record
from kraftctl_protocol.record_columns import NOT_TAKEN, Column, RecordColumns, RecordsByKind, kind_of
from kraftctl_protocol.uuids import uuid_to_string
from tests.support.effort import seeds
from tests.support.wire.random_messages import RandomMessages

SEEDS = 6
FLAT = [
    message
    for message in (record_class(type_id) for type_id in range(256))
    if message is not None and message.FIELDS and all(field.struct is None for field in message.FIELDS)
]
VERSIONS = [
    (message, version)
    for message in FLAT
    for version in range(message.LOWEST_VERSION, message.HIGHEST_VERSION + 1)
]
INT64 = ("int64", "uint32")


def random_records(rng: random.Random, message: type[Message], version: int, count: int) -> list[bytes]:
    messages = RandomMessages(
        rng, ["", "topic", "ünï", "x" * 200], [rng.randbytes(16) for _ in range(3)], [0, 1, 5], {}
    )
    values: list[bytes] = []
    while len(values) < count:
        record = messages.message(message, version)
        for field in message.FIELDS:
            if field.in_version(version) and getattr(record, field.name) is None:
                setattr(
                    record, field.name, None if field.nullable_in(version) else getattr(message(), field.name)
                )
        values.append(encode_metadata_record(record, version))
    return values


def values_of(column: Column, kind: str) -> list[Any]:
    """The buffers of a column as Python values."""
    if kind.startswith("[]"):
        assert column.items is not None
        items = values_of(column.items, kind[2:])
        return [None if null else items[first:last] for first, last, null in _items(column)]
    data = column.data.getvalue()
    if kind == "bool":
        return [bool(byte) for byte in data]
    if kind == "float64":
        return list(memoryview(data).cast("d"))
    if column.ends is None:
        return list(memoryview(data).cast("q" if kind in INT64 else "i"))
    raw = [None if null else data[first:last] for first, last, null in _items(column)]
    return raw if kind == "bytes" else [None if one is None else one.decode() for one in raw]


def _items(column: Column) -> list[tuple[int, int, bool]]:
    ends = list(memoryview(column.ends.getvalue()).cast("i"))
    valid = [1] * len(ends) if column.valid is None else list(column.valid.getvalue())
    return [(first, last, not there) for first, last, there in zip([0, *ends], ends, valid, strict=False)]


def rows_of(columns: RecordColumns) -> list[dict[str, Any]]:
    columns.fill_up()
    fields = [
        (field, values_of(column, field.type))
        for field, column in zip(columns.message.FIELDS, columns.columns, strict=True)
        if column is not None
    ]
    dropped = set(columns.dropped)
    assert all(len(values) == columns.count for _, values in fields)
    return [
        {field.name: values[row] for field, values in fields}
        for row in range(columns.count)
        if row not in dropped
    ]


def add(records: RecordsByKind, values: Sequence[bytes | None]) -> list[int]:
    """Adds to empty columns; the kind of each record."""
    not_taken = records.add([Record(place, 0, None, value) for place, value in enumerate(values)])
    kinds = list(memoryview(records.kinds.getvalue()).cast("i"))
    assert not_taken == [place for place, kind in enumerate(kinds) if kind == NOT_TAKEN]
    assert values_of(records.values, "bytes") == list(values)
    return kinds


def expected_row(value: bytes) -> dict[str, Any]:
    decoded = decode_metadata_record(value)
    return {
        field.name: _plain(field, getattr(decoded.record, field.name))
        for field in decoded.record.FIELDS
        if field.in_version(decoded.version)
    }


def _plain(field: Field, value: Any) -> Any:
    if field.type == "uuid":
        return uuid_to_string(value)
    if field.type == "[]uuid" and value is not None:
        return [uuid_to_string(one) for one in value]
    return value


def decodes(value: bytes) -> bool:
    try:
        decode_metadata_record(value)
    except DecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("message", "version"), VERSIONS, ids=[f"{one.NAME}-v{version}" for one, version in VERSIONS]
)
@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_sound_and_damaged_records(message: type[Message], version: int, seed: int) -> None:
    rng = random.Random(f"{seed} {message.NAME} {version}")
    sound = random_records(rng, message, version, 30)
    values = list(sound)
    for _ in range(40):
        damaged = bytearray(rng.choice(sound))
        if rng.random() < 0.4:
            del damaged[rng.randrange(3, len(damaged)) :]
        else:
            damaged[rng.randrange(3, len(damaged))] = rng.randrange(256)
        values.insert(rng.randrange(len(values)), bytes(damaged))
    records = RecordsByKind(frozenset())
    kinds = add(records, values)
    expected = [decodes(value) for value in values]
    kind = kind_of(message.API_KEY, version)
    taken = [number == kind for number in kinds]
    # A tag that is there twice is left to the generated class, which takes the last one.
    assert all(sound for took, sound in zip(taken, expected, strict=True) if took)
    assert sum(expected) - sum(taken) <= 2, f"of {len(values)}, seed {seed}"
    columns = records.by_kind[kind]
    assert columns is not None
    assert rows_of(columns) == [
        expected_row(value) for value, took in zip(values, taken, strict=True) if took
    ]


def test_a_tag_that_is_there_twice_is_left_to_others() -> None:
    value = bytearray(encode_metadata_record(PartitionChangeRecord(partition_id=3, leader=7), 0))
    leader = bytes(value[-6:])
    value[-7] = 2
    doubled = bytes(value) + leader
    assert decode_metadata_record(doubled).record.leader == 7
    sound = encode_metadata_record(PartitionChangeRecord(partition_id=4, isr=[1, 2]), 0)
    records = RecordsByKind(frozenset())
    kind = kind_of(PartitionChangeRecord.API_KEY, 0)
    assert add(records, [sound, doubled, sound]) == [kind, NOT_TAKEN, kind]
    columns = records.by_kind[kind]
    assert columns is not None
    assert columns.dropped == [1]
    assert rows_of(columns) == [expected_row(sound)] * 2


@pytest.mark.parametrize(
    "frame", [(0, 5, 0), (2, 5, 0), (1, 5, 3), (1, 200, 0), (1, 5, 1 << 16), (1, 5 + (1 << 20), 0)]
)
def test_frames_that_name_no_kind(frame: tuple[int, int, int]) -> None:
    writer = Writer()
    for number in frame:
        write_uvarint(writer, number)
    body = encode_metadata_record(PartitionChangeRecord(), 0)[3:]
    assert add(RecordsByKind(frozenset()), [writer.getvalue() + body, b"", None]) == [NOT_TAKEN] * 3


def test_types_that_are_left_out_or_have_structs() -> None:
    values: list[bytes | None] = []
    for type_id in (0, 3):  # RegisterBrokerRecord has structs; PartitionRecord is left out.
        message = record_class(type_id)
        assert message is not None
        values.append(encode_metadata_record(message(), message.LOWEST_VERSION))
    assert add(RecordsByKind(frozenset({3})), values) == [NOT_TAKEN] * 2


def test_a_tag_of_a_later_version_is_refused() -> None:
    value = bytearray(encode_metadata_record(PartitionChangeRecord(directories=[bytes(16)]), 1))
    value[2] = 0
    assert not decodes(bytes(value))
    assert add(RecordsByKind(frozenset()), [bytes(value)]) == [NOT_TAKEN]
