"""@generated from schemas/message/SnapshotHeaderRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i64_be, write_i16_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class SnapshotHeaderRecord(Message):
    NAME: ClassVar[str] = "SnapshotHeaderRecord"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("version", "Version", "int16"),
        Field("last_contained_log_timestamp", "LastContainedLogTimestamp", "int64"),
    )

    def __init__(
        self,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
    ) -> None:
        self.version: int = version
        self.last_contained_log_timestamp: int = last_contained_log_timestamp
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("SnapshotHeaderRecord", version)
        write_i16_be(writer, self.version)
        write_i64_be(writer, self.last_contained_log_timestamp)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> SnapshotHeaderRecord:
        if version != 0:
            raise cannot_read("SnapshotHeaderRecord", version)
        at = reader.take(10)
        buffer = reader.buffer
        version_: int = read_i16_be(buffer, at)
        last_contained_log_timestamp: int = read_i64_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = SnapshotHeaderRecord(version_, last_contained_log_timestamp)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> SnapshotHeaderRecord:
        reader = Reader(data)
        message = SnapshotHeaderRecord.read(reader, version)
        reader.expect_end()
        return message
