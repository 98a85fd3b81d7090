"""@generated from schemas/metadata/AbortTransactionRecord.json by `python -m kraftctl_codegen`; edit that instead."""

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
class AbortTransactionRecord(Message):
    NAME: ClassVar[str] = "AbortTransactionRecord"
    API_KEY: ClassVar[int] = 25
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("reason", "Reason", "string", nullable=(0, 32767), tagged=(0, 32767), tag=0, default=None),
    )

    def __init__(
        self,
        reason: str | None = None,
    ) -> None:
        self.reason: str | None = reason
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AbortTransactionRecord", version)
        if self.unknown_tagged_fields is None and self.reason is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.reason is not None:
                at = begin_tag(writer, 0)
                write_compact_string(writer, self.reason)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AbortTransactionRecord:
        if version != 0:
            raise cannot_read("AbortTransactionRecord", version)
        reason: str | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                reason = reader.read_compact_nullable_string()
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = AbortTransactionRecord(reason)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AbortTransactionRecord:
        reader = Reader(data)
        message = AbortTransactionRecord.read(reader, version)
        reader.expect_end()
        return message
