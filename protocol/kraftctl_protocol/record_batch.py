"""Record batches of format 2 (KIP-98), as the metadata log and its snapshots hold them (KIP-595, KIP-630).

Encodes and decodes whole batches, laid out as `batch_framing` says. Compression is refused: the metadata log
never has any.
"""

from __future__ import annotations

from librt.strings import (
    BytesWriter,
    read_i16_be,
    read_i32_be,
    read_i64_be,
    write_i16_be,
    write_i32_be,
    write_i64_be,
)
from mypy_extensions import i64, mypyc_attr, u8

from kraftctl_protocol.batch_framing import (
    ATTRIBUTES_POSITION,
    BASE_TIMESTAMP_POSITION,
    CONTROL_BIT,
    EPOCH_POSITION,
    HEADER_BYTES,
    LAST_OFFSET_DELTA_POSITION,
    MAGIC,
    MAGIC_POSITION,
    MAX_TIMESTAMP_POSITION,
    PREFIX_BYTES,
    actual_crc,
    base_offset_at,
    batch_size,
    stated_crc,
)
from kraftctl_protocol.crc32c import crc32c
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_cursor import RECORD_BYTES_MIN, RecordCursor

COMPRESSION_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08


@mypyc_attr(acyclic=True)
class BatchHeader:
    """The first 61 bytes of a batch."""

    def __init__(
        self,
        *,
        base_offset: int,
        size_bytes: int,
        partition_leader_epoch: int,
        magic: int,
        crc: int,
        attributes: int,
        last_offset_delta: int,
        base_timestamp_ms: int,
        max_timestamp_ms: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        records_count: int,
    ) -> None:
        self.base_offset = base_offset
        self.size_bytes = size_bytes
        """The size of the whole batch, including base offset and length."""
        self.partition_leader_epoch = partition_leader_epoch
        self.magic = magic
        self.crc = crc
        self.attributes = attributes
        self.last_offset_delta = last_offset_delta
        self.base_timestamp_ms = base_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence
        self.records_count = records_count

    @property
    def last_offset(self) -> int:
        """Offset of the last record, inclusive."""
        return self.base_offset + self.last_offset_delta

    @property
    def is_control(self) -> bool:
        """Whether the records belong to the raft layer."""
        return self.attributes & CONTROL_BIT != 0

    def __repr__(self) -> str:
        return (
            f"BatchHeader(offsets={self.base_offset}-{self.last_offset}, size_bytes={self.size_bytes}, "
            f"epoch={self.partition_leader_epoch}, is_control={self.is_control}, count={self.records_count})"
        )


@mypyc_attr(acyclic=True)
class Record:
    """One record with its absolute offset and timestamp, without headers: the metadata log has none."""

    def __init__(self, offset: int, timestamp_ms: int, key: bytes | None, value: bytes | None) -> None:
        self.offset = offset
        self.timestamp_ms = timestamp_ms
        self.key = key
        self.value = value

    def __repr__(self) -> str:
        return f"Record({self.offset}, {self.timestamp_ms}, key={self.key!r}, value={self.value!r})"


def have_one_timestamp(records: list[Record]) -> bool:
    """Returns whether all of them have the same timestamp, as in a controller's batch, without making an
    object.
    """
    if not records:
        return True
    timestamp_ms = records[0].timestamp_ms
    return all(record.timestamp_ms == timestamp_ms for record in records)


class RecordBatch:
    """A batch whose records are decoded."""

    def __init__(self, header: BatchHeader, records: list[Record]) -> None:
        self.header = header
        self.records = records

    def __repr__(self) -> str:
        return f"RecordBatch({self.header!r}, {self.records!r})"


def encode_batch(base_offset: int, epoch: int, timestamp_ms: int, values: list[bytes]) -> bytes:
    """A data batch with one record without key per value, at consecutive offsets from `base_offset`."""
    body = _start_body(0, len(values), timestamp_ms)
    delta: i64 = 0
    for value in values:
        size: i64 = len(value)
        _write_varint(body, 1 + 1 + _varint_size(delta) + 1 + _varint_size(size) + size + 1)
        body.append(0)  # attributes
        body.append(0)  # timestamp delta
        _write_varint(body, delta)
        body.append(1)  # key length -1: null
        _write_varint(body, size)
        body.write(value)
        body.append(0)  # no headers
        delta += 1  # noqa: SIM113 (a native integer)
    return _finish(base_offset, epoch, body)


def encode_control_batch(
    base_offset: int, epoch: int, timestamp_ms: int, records: list[tuple[int, bytes]]
) -> bytes:
    """Returns a control batch; each record is its control record type and its encoded value."""
    body = _start_body(CONTROL_BIT, len(records), timestamp_ms)
    delta: i64 = 0
    for control_type, value in records:
        size: i64 = len(value)
        _write_varint(body, 1 + 1 + _varint_size(delta) + 1 + 4 + _varint_size(size) + size + 1)
        body.append(0)
        body.append(0)
        _write_varint(body, delta)
        body.append(8)  # key length 4
        write_i16_be(body, 0)  # key version
        write_i16_be(body, control_type)
        _write_varint(body, size)
        body.write(value)
        body.append(0)
        delta += 1  # noqa: SIM113 (a native integer)
    return _finish(base_offset, epoch, body)


def _start_body(attributes: int, count: int, timestamp_ms: int) -> BytesWriter:
    """Starts the part that the checksum covers, up to the records."""
    assert count > 0, "a batch has at least one record"
    body = BytesWriter()
    write_i16_be(body, attributes)
    write_i32_be(body, count - 1)
    write_i64_be(body, timestamp_ms)
    write_i64_be(body, timestamp_ms)
    write_i64_be(body, -1)  # producer id
    write_i16_be(body, -1)  # producer epoch
    write_i32_be(body, -1)  # base sequence
    write_i32_be(body, count)
    return body


def _finish(base_offset: int, epoch: int, body: BytesWriter) -> bytes:
    covered = body.getvalue()
    crc = crc32c(covered)
    head = BytesWriter()
    write_i64_be(head, base_offset)
    write_i32_be(head, ATTRIBUTES_POSITION - PREFIX_BYTES + len(covered))
    write_i32_be(head, epoch)
    head.append(MAGIC)
    write_i32_be(head, crc if crc < 0x80000000 else crc - 0x100000000)
    return head.getvalue() + covered


def _varint_size(value: i64) -> i64:
    """Returns the size of a zigzag varint; `value` is not negative here."""
    rest: i64 = (value << 1) >> 7
    size: i64 = 1
    while rest != 0:
        rest >>= 7
        size += 1
    return size


def _write_varint(writer: BytesWriter, value: i64) -> None:
    """Appends a zigzag varint; `value` is not negative here."""
    rest: i64 = value << 1
    while rest > 0x7F:
        writer.append(u8((rest & 0x7F) | 0x80))
        rest >>= 7
    writer.append(u8(rest))


def read_batch_header(buffer: bytes, position: int) -> BatchHeader:
    """Returns the header of the batch that starts at `position`; DecodeError when it cannot be one.

    The batch itself may reach past the end of `buffer`; compare `position + size_bytes`.
    """
    at: i64 = position
    if at < 0 or at + HEADER_BYTES > len(buffer):
        raise DecodeError(f"no room for a batch header at {position} of {len(buffer)} bytes")
    magic = buffer[at + MAGIC_POSITION]
    if magic != MAGIC:
        raise DecodeError(f"batch of format version {magic}; only {MAGIC} is known")
    header = BatchHeader(
        base_offset=read_i64_be(buffer, at),
        size_bytes=batch_size(buffer, position),
        partition_leader_epoch=read_i32_be(buffer, at + EPOCH_POSITION),
        magic=magic,
        crc=stated_crc(buffer, position),
        attributes=read_i16_be(buffer, at + ATTRIBUTES_POSITION),
        last_offset_delta=read_i32_be(buffer, at + LAST_OFFSET_DELTA_POSITION),
        base_timestamp_ms=read_i64_be(buffer, at + BASE_TIMESTAMP_POSITION),
        max_timestamp_ms=read_i64_be(buffer, at + MAX_TIMESTAMP_POSITION),
        producer_id=read_i64_be(buffer, at + 43),
        producer_epoch=read_i16_be(buffer, at + 51),
        base_sequence=read_i32_be(buffer, at + 53),
        records_count=read_i32_be(buffer, at + 57),
    )
    _check_header(header)
    return header


def _check_header(header: BatchHeader) -> None:
    if header.size_bytes < HEADER_BYTES:
        raise DecodeError(f"batch of {header.size_bytes} bytes, smaller than its own header")
    if header.base_offset < 0 or header.last_offset_delta < 0:
        raise DecodeError(f"batch with offsets {header.base_offset} to {header.last_offset}")
    if header.attributes & COMPRESSION_MASK:
        raise DecodeError(f"compressed batch (type {header.attributes & COMPRESSION_MASK}): not supported")
    room = (header.size_bytes - HEADER_BYTES) // RECORD_BYTES_MIN
    if header.records_count < 0 or header.records_count > room:
        raise DecodeError(f"batch of {header.size_bytes} bytes cannot hold {header.records_count} records")
    if header.records_count != header.last_offset_delta + 1:
        # Kafka's controllers count the offsets of a batch by its records.
        raise DecodeError(
            f"batch of {header.last_offset_delta + 1} offsets with {header.records_count} records"
        )


def check_batch_crc(buffer: bytes, position: int, header: BatchHeader) -> None:
    """Raises DecodeError when the bytes of the batch do not match its checksum."""
    actual = actual_crc(buffer, position, header.size_bytes)
    if actual != header.crc:
        raise DecodeError(
            f"batch at offset {header.base_offset} has checksum {actual:#010x} but says {header.crc:#010x}"
        )


def read_batch(buffer: bytes, position: int, verify_crc: bool = True) -> RecordBatch:
    """Returns the batch that starts at `position`; DecodeError when it is damaged or not all there."""
    header = read_batch_header(buffer, position)
    if position + header.size_bytes > len(buffer):
        raise DecodeError(f"batch of {header.size_bytes} bytes with {len(buffer) - position} bytes left")
    if verify_crc:
        check_batch_crc(buffer, position, header)
    return RecordBatch(header, _read_records(buffer, position, header))


def read_batches(buffer: bytes, verify_crc: bool = True, partial_tail: bool = False) -> list[RecordBatch]:
    """Returns all batches of `buffer`; DecodeError when one is damaged.

    With `partial_tail` an incomplete last batch is left out instead: a Java leader cuts a Fetch response at
    its byte limit, even within a batch.
    """
    batches: list[RecordBatch] = []
    position = 0
    end = len(buffer)
    while position < end:
        if partial_tail and not _is_whole(buffer, position):
            break
        batch = read_batch(buffer, position, verify_crc)
        batches.append(batch)
        position += batch.header.size_bytes
    return batches


def batches_before(buffer: bytes, end_offset: int) -> bytes:
    """Returns the whole batches of `buffer` before `end_offset`, which is the base offset of a batch."""
    position = 0
    size = len(buffer)
    while position + PREFIX_BYTES <= size and base_offset_at(buffer, position) < end_offset:
        position += batch_size(buffer, position)
    # A slice of all of it would be a copy in compiled code.
    return buffer if position >= size else buffer[:position]


def _is_whole(buffer: bytes, position: int) -> bool:
    remaining = len(buffer) - position
    return remaining >= HEADER_BYTES and batch_size(buffer, position) <= remaining


def _read_records(buffer: bytes, position: int, header: BatchHeader) -> list[Record]:
    cursor = records_of(buffer, position, header)
    base_offset = header.base_offset
    base_timestamp_ms = header.base_timestamp_ms
    has_append_time = header.attributes & LOG_APPEND_TIME_BIT != 0
    records: list[Record] = []
    while cursor.advance():
        timestamp_ms = base_timestamp_ms + int(cursor.timestamp_delta)
        if has_append_time:
            timestamp_ms = header.max_timestamp_ms
        records.append(Record(base_offset + int(cursor.index), timestamp_ms, cursor.key(), cursor.value()))
    return records


def records_of(buffer: bytes, position: int, header: BatchHeader) -> RecordCursor:
    """Returns the records of the batch at `position`, all of which must be in `buffer`."""
    end = position + header.size_bytes
    return RecordCursor(buffer, position + HEADER_BYTES, end, header.records_count)
