"""The frame of a metadata record, against a snapshot that Kafka wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import (
    RecordAndVersion,
    UnknownRecordError,
    decode_metadata_record,
    encode_metadata_record,
)
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batches

SNAPSHOT = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"


def _values() -> list[bytes]:
    batches = read_batches(SNAPSHOT.read_bytes())
    return [
        record.value or b"" for batch in batches if not batch.header.is_control for record in batch.records
    ]


def test_every_record_of_a_java_snapshot_is_written_again_byte_for_byte() -> None:
    values = _values()
    assert len(values) > 20
    for value in values:
        decoded = decode_metadata_record(value)
        assert encode_metadata_record(decoded.record, decoded.version) == value
        assert decoded.record.encode(decoded.version) == value[3:]


def test_no_op_is_four_bytes() -> None:
    assert encode_metadata_record(NoOpRecord(), 0) == b"\x01\x14\x00\x00"
    assert decode_metadata_record(b"\x01\x14\x00\x00") == RecordAndVersion(NoOpRecord(), 0)


def test_record_and_version_compare_by_content() -> None:
    record = RecordAndVersion(TopicRecord(name="a", topic_id=bytes(16)), 0)
    assert record == RecordAndVersion(TopicRecord(name="a", topic_id=bytes(16)), 0)
    assert record != RecordAndVersion(TopicRecord(name="b", topic_id=bytes(16)), 0)
    assert "TopicRecord" in repr(record)


@pytest.mark.parametrize(
    ("value", "record_type", "version"),
    [
        pytest.param(b"\x01\xff\x7f\x00\x00", 16383, 0, id="unknown-type"),
        pytest.param(b"\x01\x14\x05\x00", 20, 5, id="version-above-the-known-ones"),
    ],
)
def test_sound_frames_of_unknown_content(value: bytes, record_type: int, version: int) -> None:
    with pytest.raises(UnknownRecordError) as raised:
        decode_metadata_record(value)
    assert (raised.value.record_type, raised.value.version) == (record_type, version)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x01", id="only-a-frame-version"),
        pytest.param(b"\x00\x14\x00\x00", id="frame-version-0"),
        pytest.param(b"\x02\x14\x00\x00", id="frame-version-2"),
        pytest.param(b"\x01\x14\x00\x00\x00", id="trailing-byte"),
        pytest.param(b"\x01\x14\x00", id="no-tags"),
        pytest.param(b"\xff\xff\xff\xff\xff\x01", id="endless-number"),
    ],
)
def test_damaged(value: bytes) -> None:
    with pytest.raises(DecodeError) as raised:
        decode_metadata_record(value)
    assert not isinstance(raised.value, UnknownRecordError)


@given(st.sampled_from(_values()), st.data())
def test_damage_only_ever_ends_in_decode_error(value: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(value) - 1))
    damaged = bytearray(value)
    damaged[position] ^= data.draw(st.integers(1, 255))
    try:
        decode_metadata_record(bytes(damaged)[: data.draw(st.integers(0, len(value)))])
    except DecodeError:
        return
