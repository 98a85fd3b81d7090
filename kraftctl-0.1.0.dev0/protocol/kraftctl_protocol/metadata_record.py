"""The value of a metadata record (KIP-746): frame version, record type and version, then the message."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError, Reader, Writer, write_uvarint

FRAME_VERSION: Final = 1


@mypyc_attr(acyclic=True)
class RecordAndVersion:
    """A metadata record and the version it is written in."""

    def __init__(self, record: Message, version: int) -> None:
        self.record = record
        self.version = version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordAndVersion):
            return False
        return self.version == other.version and self.record == other.record

    def __hash__(self) -> int:
        return hash(self.version)

    def __repr__(self) -> str:
        return f"RecordAndVersion({self.record!r}, version={self.version})"


class UnknownRecordError(DecodeError):
    """A well-framed record of a type, or a version of it, that is not known here."""

    def __init__(self, record_type: int, version: int) -> None:
        super().__init__(f"unknown metadata record type {record_type} version {version}")
        self.record_type = record_type
        self.version = version


def encode_metadata_record(record: Message, version: int) -> bytes:
    """The value under which `record` goes into a data batch; EncodeError if `version` cannot express it."""
    return encode_framed(Writer(), frame_of(record.API_KEY, version), record, version)


def frame_of(record_type: int, version: int) -> bytes:
    """Returns the bytes that precede each record of this type and version."""
    writer = Writer()
    write_uvarint(writer, FRAME_VERSION)
    write_uvarint(writer, record_type)
    write_uvarint(writer, version)
    return writer.getvalue()


def encode_framed(writer: Writer, frame: bytes, record: Message, version: int) -> bytes:
    """Encodes like `encode_metadata_record` with a given frame; the content of `writer` is overwritten."""
    writer.truncate(0)
    writer.write(frame)
    try:
        record.write(writer, version)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise EncodeError(f"{record.NAME} version {version}: {error}") from error
    return writer.getvalue()


def decode_metadata_record(value: bytes) -> RecordAndVersion:
    """Returns the record in the value of a data batch's record.

    UnknownRecordError when the frame is sound but its content is unknown; DecodeError when it is damaged.
    """
    reader = Reader(value)
    frame_version = int(reader.read_uvarint())
    if frame_version != FRAME_VERSION:
        raise DecodeError(f"metadata record of frame version {frame_version}; only {FRAME_VERSION} is known")
    record_type = int(reader.read_uvarint())
    version = int(reader.read_uvarint())
    message = record_class(record_type)
    if message is None or version < message.LOWEST_VERSION or version > message.HIGHEST_VERSION:
        raise UnknownRecordError(record_type, version)
    record = message.read(reader, version)
    reader.expect_end()
    return RecordAndVersion(record, version)
