"""Record batches: written and read back, read from Java's bytes, refused when damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.batch_framing import HEADER_BYTES
from kraftctl_protocol.crc32c import crc32c
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import (
    RecordBatch,
    batches_before,
    encode_batch,
    encode_control_batch,
    read_batch,
    read_batch_header,
    read_batches,
)

RECORDINGS = Path(__file__).parents[1] / "data" / "kafka-4.3.1"
CHECKPOINTS = sorted(RECORDINGS.rglob("*.checkpoint"))


def _encode_again(batch: RecordBatch) -> bytes:
    header = batch.header
    epoch, timestamp_ms = header.partition_leader_epoch, header.base_timestamp_ms
    if header.is_control:
        control = [
            (int.from_bytes(record.key or b"", "big") & 0xFFFF, record.value or b"")
            for record in batch.records
        ]
        return encode_control_batch(header.base_offset, epoch, timestamp_ms, control)
    return encode_batch(
        header.base_offset, epoch, timestamp_ms, [record.value or b"" for record in batch.records]
    )


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in CHECKPOINTS])
def test_what_java_wrote_is_read_and_written_again_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    batches = read_batches(data)
    assert b"".join(_encode_again(batch) for batch in batches) == data
    assert batches[0].header.is_control
    assert batches[-1].header.is_control
    offset = 0
    for batch in batches:
        assert [record.offset for record in batch.records] == list(
            range(offset, batch.header.last_offset + 1)
        )
        offset = batch.header.last_offset + 1


def test_header_of_a_java_snapshot() -> None:
    data = (RECORDINGS / "00000000000000001643-0000000001.checkpoint").read_bytes()
    header = read_batch_header(data, 0)
    assert (header.base_offset, header.last_offset, header.records_count) == (0, 2, 3)
    assert (header.partition_leader_epoch, header.magic, header.attributes) == (1, 2, 0x20)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)


_offsets = st.integers(0, 2**62)
_values = st.lists(st.binary(max_size=300), min_size=1, max_size=150)


@given(_offsets, st.integers(0, 2**31 - 1), st.integers(-1, 2**62), _values)
def test_data_batch_read_back(base_offset: int, epoch: int, timestamp_ms: int, values: list[bytes]) -> None:
    data = encode_batch(base_offset, epoch, timestamp_ms, values)
    batch = read_batch(data, 0)
    header = batch.header
    assert header.size_bytes == len(data)
    assert (header.base_offset, header.last_offset) == (base_offset, base_offset + len(values) - 1)
    assert (header.partition_leader_epoch, header.records_count) == (epoch, len(values))
    assert (header.base_timestamp_ms, header.max_timestamp_ms) == (timestamp_ms, timestamp_ms)
    assert not header.is_control
    assert header.crc == crc32c(data[21:])
    assert [record.value for record in batch.records] == values
    assert [record.offset - base_offset for record in batch.records] == list(range(len(values)))
    assert all(record.key is None and record.timestamp_ms == timestamp_ms for record in batch.records)


def test_value_sizes_around_the_steps_of_a_varint() -> None:
    values = [bytes(size) for size in (0, 1, 55, 56, 57, 58, 63, 64, 8183, 8184, 8191, 8192, 1_048_576)]
    assert [record.value for record in read_batch(encode_batch(5, 1, 9, values), 0).records] == values


def test_control_batch_read_back() -> None:
    data = encode_control_batch(7, 3, 1234, [(2, b"leader"), (5, b"version"), (6, bytes(200))])
    batch = read_batch(data, 0)
    assert batch.header.is_control
    assert [record.key for record in batch.records] == [b"\0\0\0\2", b"\0\0\0\5", b"\0\0\0\6"]
    assert [record.value for record in batch.records] == [b"leader", b"version", bytes(200)]
    assert [record.offset for record in batch.records] == [7, 8, 9]


_sample = encode_batch(10, 1, 1000, [b"first", b"second record"]) + encode_control_batch(
    12, 1, 1000, [(2, b"xyz")]
)


@given(st.integers(0, len(_sample) - 1), st.integers(1, 255))
def test_one_changed_byte_is_noticed(position: int, difference: int) -> None:
    damaged = bytearray(_sample)
    damaged[position] ^= difference
    try:
        batches = read_batches(bytes(damaged))
    except DecodeError:
        return
    in_batch = (
        position if position < batches[0].header.size_bytes else position - batches[0].header.size_bytes
    )
    assert in_batch < 8 or 12 <= in_batch < 16, (
        "only base offset and leader epoch are outside of the checksum"
    )


@given(st.integers(0, len(_sample) - 1), st.integers(1, 255), st.integers(0, len(_sample)))
def test_without_checksum_damage_ends_in_decode_error_or_records(
    position: int, difference: int, end: int
) -> None:
    damaged = bytearray(_sample)
    damaged[position] ^= difference
    try:
        read_batches(bytes(damaged)[:end], verify_crc=False)
    except DecodeError:
        return


@given(st.integers(0, len(_sample)))
def test_cut_anywhere(end: int) -> None:
    first_bytes = read_batch_header(_sample, 0).size_bytes
    whole = [0, first_bytes, len(_sample)]
    cut = _sample[:end]
    if end not in whole:
        with pytest.raises(DecodeError):
            read_batches(cut)
    expected = sum(1 for boundary in whole[1:] if boundary <= end)
    assert len(read_batches(cut, partial_tail=True)) == expected


def _patched(position: int, value: bytes) -> bytes:
    patched = bytearray(encode_batch(0, 0, 0, [b"value"]))
    patched[position : position + len(value)] = value
    patched[17:21] = crc32c(bytes(patched[21:])).to_bytes(4, "big")
    return bytes(patched)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        pytest.param(_patched(16, b"\1"), "format version 1", id="magic"),
        pytest.param(_patched(21, b"\0\1"), "compressed", id="gzip"),
        pytest.param(_patched(21, b"\0\4"), "compressed", id="zstd"),
        pytest.param(_patched(57, b"\x7f\xff\xff\xff"), "cannot hold", id="count-larger-than-room"),
        pytest.param(_patched(57, b"\xff\xff\xff\xff"), "cannot hold", id="negative-count"),
        pytest.param(_patched(57, b"\0\0\0\0"), "1 offsets with 0 records", id="fewer-records-than-offsets"),
        pytest.param(_patched(23, b"\xff\xff\xff\xff"), "offsets", id="negative-last-offset-delta"),
        pytest.param(_patched(0, b"\xff"), "offsets", id="negative-base-offset"),
        pytest.param(_patched(8, b"\0\0\0\1"), "smaller than its own header", id="tiny-length"),
        pytest.param(_patched(8, b"\x80\0\0\0"), "smaller than its own header", id="negative-length"),
        pytest.param(_patched(61, b"\x7e"), "record of", id="record-longer-than-batch"),
        pytest.param(_patched(61, b"\1"), "record of -1 bytes", id="negative-record-length"),
        pytest.param(
            _patched(61, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), "ten bytes", id="endless-varint"
        ),
        pytest.param(_patched(64, b"\2"), "offset delta", id="offset-past-the-last"),
        pytest.param(_patched(66, b"\x7e"), "field of", id="value-longer-than-record"),
        pytest.param(_patched(72, b"\x7e"), "headers", id="too-many-headers"),
    ],
)
def test_refused(data: bytes, match: str) -> None:
    with pytest.raises(DecodeError, match=match):
        read_batches(data)


def test_headers_are_read_over_and_append_time_wins() -> None:
    record = bytes([0, 4, 0, 1, 2]) + b"v" + bytes([2, 2]) + b"k" + bytes([2]) + b"h"
    covered = (
        b"\0\x08"
        + (0).to_bytes(4, "big")
        + (100).to_bytes(8, "big")
        + (900).to_bytes(8, "big")
        + b"\xff" * 14
        + (1).to_bytes(4, "big")
        + bytes([len(record) * 2])
        + record
    )
    size = (9 + len(covered)).to_bytes(4, "big")
    data = bytes(8) + size + bytes(4) + b"\2" + crc32c(covered).to_bytes(4, "big") + covered
    (batch,) = read_batches(data)
    assert (batch.records[0].value, batch.records[0].timestamp_ms) == (b"v", 900)


def test_header_size() -> None:
    assert len(encode_batch(0, 0, 0, [b""])) == HEADER_BYTES + 7
    with pytest.raises(AssertionError):
        encode_batch(0, 0, 0, [])


def test_batches_before_cuts_at_a_batch() -> None:
    batches = [encode_batch(base, 1, 0, [b"x"] * 3) for base in (10, 13, 16)]
    whole = b"".join(batches)
    assert batches_before(whole, 10) == b""
    assert batches_before(whole, 13) == batches[0]
    assert batches_before(whole, 16) == batches[0] + batches[1]
    assert batches_before(whole, 19) == whole
    assert batches_before(b"", 19) == b""
