"""@generated from schemas/metadata/BeginTransactionRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags


@mypyc_attr(acyclic=True, free_list_len=1)
class BeginTransactionRecord(Message):
    NAME: ClassVar[str] = "BeginTransactionRecord"
    API_KEY: ClassVar[int] = 23
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", nullable=(0, 32767), tagged=(0, 32767), tag=0, default=None),
    )

    def __init__(
        self,
        name: str | None = None,
    ) -> None:
        self.name: str | None = name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("BeginTransactionRecord", version)
        if self.unknown_tagged_fields is None and self.name is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.name is not None:
                at = begin_tag(writer, 0)
                write_compact_string(writer, self.name)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BeginTransactionRecord:
        if version != 0:
            raise cannot_read("BeginTransactionRecord", version)
        name: str | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                name = reader.read_compact_nullable_string()
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = BeginTransactionRecord(name)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BeginTransactionRecord:
        reader = Reader(data)
        message = BeginTransactionRecord.read(reader, version)
        reader.expect_end()
        return message
