"""Primitive types at their edges, and what a hostile peer would try."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol import primitives
from kraftctl_protocol.generated.index import all_messages
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError, Reader, Writer
from kraftctl_protocol.uuids import ONE_UUID, ZERO_UUID, random_uuid, uuid_from_string, uuid_to_string

MESSAGES = [pytest.param(cls, id=cls.NAME) for cls in all_messages()]


@pytest.mark.parametrize(
    ("value", "hexadecimal"),
    [
        pytest.param(0, "00", id="zero"),
        pytest.param(127, "7f", id="one-byte"),
        pytest.param(128, "8001", id="two-bytes"),
        pytest.param(300, "ac02", id="example-of-kip-482"),
        pytest.param(2**31 - 1, "ffffffff07", id="highest"),
    ],
)
def test_uvarint(value: int, hexadecimal: str) -> None:
    writer = Writer()
    primitives.write_uvarint(writer, value)
    assert writer.getvalue().hex() == hexadecimal
    assert Reader(bytes.fromhex(hexadecimal)).read_uvarint() == value


@pytest.mark.parametrize(
    "hexadecimal",
    [
        pytest.param("", id="nothing"),
        pytest.param("80", id="cut"),
        pytest.param("ffffffff", id="cut-after-four"),
        pytest.param("ffffffff08", id="above-31-bits"),
        pytest.param("ffffffff7f", id="overflow-of-32-bits"),
        pytest.param("808080808001", id="six-bytes"),
        pytest.param("ff" * 20, id="endless"),
    ],
)
def test_uvarint_that_is_none(hexadecimal: str) -> None:
    with pytest.raises(DecodeError):
        Reader(bytes.fromhex(hexadecimal)).read_uvarint()


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlong_round_trip(value: int) -> None:
    writer = Writer()
    primitives.write_varlong(writer, value)
    data = writer.getvalue()
    expected = (value << 1) ^ (value >> 63)
    assert len(data) == max(1, -(-expected.bit_length() // 7))
    reader = Reader(data)
    assert reader.read_varlong() == value
    reader.expect_end()


@pytest.mark.parametrize("value", [0, -1, 1, 63, 64, -64, -65, 2**31 - 1, -(2**31)])
def test_varint_round_trip(value: int) -> None:
    writer = Writer()
    primitives.write_varint(writer, value)
    assert Reader(writer.getvalue()).read_varint() == value


def test_varint_and_varlong_that_are_too_large() -> None:
    for value in (2**31, -(2**31) - 1):
        writer = Writer()
        with pytest.raises(EncodeError):
            primitives.write_varint(writer, value)
        primitives.write_varlong(writer, value)
        with pytest.raises(DecodeError):
            Reader(writer.getvalue()).read_varint()
    with pytest.raises(DecodeError):
        Reader(b"\xff" * 9 + b"\x02").read_varlong()
    with pytest.raises(DecodeError):
        Reader(b"\xff" * 30).read_varlong()


@pytest.mark.parametrize(
    "method",
    [
        name
        for name in dir(Reader)
        if name.startswith(("read_", "begin_")) and not name.endswith("array_length")
    ],
)
def test_nothing_to_read(method: str) -> None:
    sizes = (3,) if method in ("read_raw", "read_text", "read_unknown_tagged_field") else ()
    for reader in (Reader(b""), Reader(b"abc", 3)):
        with pytest.raises(DecodeError):
            getattr(reader, method)(*sizes)


def test_a_reader_cannot_start_outside_of_its_buffer() -> None:
    for position in (-1, 4):
        with pytest.raises(DecodeError):
            Reader(b"abc", position)


@pytest.mark.parametrize("size", [-1, -(2**63), 4, 2**62, 2**63 - 1])
def test_raw_of_an_absurd_size(size: int) -> None:
    with pytest.raises(DecodeError):
        Reader(b"abc").read_raw(size)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"\xff", id="no-utf-8"),
        pytest.param(b"\xc3", id="cut-character"),
        pytest.param(b"\xed\xa0\x80", id="surrogate"),
        pytest.param(b"\xc0\x80", id="overlong-zero"),
    ],
)
def test_text_that_is_not_utf_8(raw: bytes) -> None:
    with pytest.raises(DecodeError):
        Reader(bytes([0, len(raw)]) + raw).read_string()
    with pytest.raises(DecodeError):
        Reader(bytes([len(raw) + 1]) + raw).read_compact_string()


def test_a_text_that_cannot_be_written() -> None:
    with pytest.raises(EncodeError):
        VoteRequest(cluster_id="\ud800").encode(1)


def test_an_array_longer_than_the_rest_allocates_nothing() -> None:
    """A count of two thousand million elements in ten bytes fails immediately."""
    with pytest.raises(DecodeError):
        MetadataRequest.decode(bytes.fromhex("7fffffff") + bytes(6), 1)
    with pytest.raises(DecodeError):
        MetadataRequest.decode(bytes.fromhex("ffffffff07") + bytes(6), 12)


def test_a_tag_that_the_version_does_not_have() -> None:
    from kraftctl_protocol.generated.fetch_request import FetchRequest, ReplicaState

    data = FetchRequest(replica_state=ReplicaState(5, 6)).encode(15)
    assert FetchRequest.decode(data, 15).replica_state == ReplicaState(5, 6)
    body = FetchRequest().encode(14)
    tags = bytes([1, 1, 13]) + bytes(13)
    with pytest.raises(DecodeError, match="tag 1"):
        FetchRequest.decode(body[:-1] + tags, 14)


def test_a_tagged_field_must_be_as_long_as_it_says() -> None:
    from kraftctl_protocol.generated.fetch_request import FetchRequest

    body = FetchRequest().encode(15)[:-1]
    assert FetchRequest.decode(body + bytes([1, 0, 2, 2, 65]), 15).cluster_id == "A"
    for tags in (bytes([1, 0, 1, 2, 65]), bytes([1, 0, 3, 2, 65, 0])):
        with pytest.raises(DecodeError):
            FetchRequest.decode(body + tags, 15)


def test_unknown_tags_are_written_in_the_order_of_tags() -> None:
    from kraftctl_protocol.generated.fetch_request import FetchRequest

    message = FetchRequest(cluster_id="A")
    message.unknown_tagged_fields = [(9, b"b"), (7, b"a")]
    read = FetchRequest.decode(message.encode(15), 15)
    assert read.unknown_tagged_fields == [(7, b"a"), (9, b"b")]
    for refused in ([(7, b""), (7, b"")], [(0, b"")]):
        message.unknown_tagged_fields = refused
        with pytest.raises(EncodeError):
            message.encode(15)


@pytest.mark.parametrize("cls", MESSAGES)
def test_null_where_it_is_not_allowed(cls: type[Message]) -> None:
    """A field that is nullable in some versions only refuses None in the others."""
    for version in range(cls.LOWEST_VERSION, cls.HIGHEST_VERSION + 1):
        for field in cls.FIELDS:
            if not field.in_version(version) or field.nullable_in(version) or field.tagged_in(version):
                continue
            if field.type.startswith("[]") or field.type in ("string", "bytes", "records", "uuid"):
                arguments: dict[str, Any] = {field.name: None}
                with pytest.raises((EncodeError, TypeError)) as raised:
                    cls(**arguments).encode(version)
                if field.highest_nullable >= 0:
                    assert isinstance(raised.value, EncodeError)


def test_values_of_the_wrong_type() -> None:
    for arguments in (
        {"cluster_id": 5},
        {"topics": 5},
        {"topics": [5]},
        {"voter_id": "x"},
        {"voter_id": 1.5},
    ):
        values: dict[str, Any] = dict(arguments)
        with pytest.raises((EncodeError, TypeError)):
            VoteRequest(**values).encode(1)


def test_equality_and_text() -> None:
    one, same, other = VoteRequest("c"), VoteRequest("c"), VoteRequest("d")
    assert one == same
    assert one != other
    assert one != "c"
    assert repr(one).startswith("VoteRequest(cluster_id='c', voter_id=-1, topics=[])")
    same.unknown_tagged_fields = []
    assert one == same
    same.unknown_tagged_fields = [(5, b"x")]
    assert one != same
    assert "unknown_tagged_fields=[(5, b'x')]" in repr(same)


def test_messages_do_not_share_their_default_lists() -> None:
    one, other = VoteRequest(), VoteRequest()
    one.topics.append(VoteRequest.FIELDS[2].struct())  # type: ignore[misc, arg-type]
    assert other.topics == []
    assert VoteRequest().topics == []


def test_uuid_text() -> None:
    assert uuid_to_string(ZERO_UUID) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert uuid_to_string(ONE_UUID) == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert uuid_from_string("AAAAAAAAAAAAAAAAAAAAAQ==") == ONE_UUID
    assert uuid_from_string("-_-_AAAAAAAAAAAAAAAAAA") == bytes.fromhex("fbffbf") + bytes(13)
    for text in ("", "A" * 21, "A" * 23, "!" * 22, "A" * 22 + "===", "AAAAAAAAAAAAAAAAAAAA+é"):
        with pytest.raises(ValueError):
            uuid_from_string(text)


def test_a_seed_draws_the_uuids_that_it_has_always_drawn() -> None:
    rng = random.Random(4)
    drawn = [random_uuid(rng) for _ in range(2)]
    assert drawn[0].hex() == "b8a1abcd1a6946c78da4f9fc3c6da5d7"
    assert drawn[1].hex() == "1710cf5327ac435aba97c643656412a9"


def test_random_uuids() -> None:
    rng = random.Random(7)
    drawn = [random_uuid(rng) for _ in range(2000)]
    assert len(set(drawn)) == len(drawn)
    assert all(len(one) == 16 and one[6] >> 4 == 4 and one[8] >> 6 == 2 for one in drawn)
    assert not any(uuid_to_string(one).startswith("-") for one in drawn)
    assert all(uuid_from_string(uuid_to_string(one)) == one for one in drawn)
    assert [random_uuid(random.Random(7))] == drawn[:1]


@pytest.mark.parametrize("length", [2, 1_000, 2**31 - 2])
@pytest.mark.parametrize("nullable", ["", "nullable_"])
@pytest.mark.parametrize("compact", ["", "compact_"])
def test_an_array_longer_than_the_rest_is_refused_before_any_element(
    compact: str, nullable: str, length: int
) -> None:
    """CVE-2022-34917: three bytes are left, and no element has less than two."""

    def read(count: int) -> int:
        writer = Writer()
        if compact:
            primitives.write_uvarint(writer, count + 1)
            data = writer.getvalue()
        else:
            data = count.to_bytes(4, "big")
        read_length = getattr(Reader(data + bytes(3)), f"read_{compact}{nullable}array_length")
        return int(read_length(2, 0))

    assert read(1) == 1
    with pytest.raises(DecodeError, match="bytes wanted"):
        read(length)
