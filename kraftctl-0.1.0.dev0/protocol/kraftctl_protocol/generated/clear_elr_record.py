"""@generated from schemas/metadata/ClearElrRecord.json by `python -m kraftctl_codegen`; edit that instead."""

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
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ClearElrRecord(Message):
    NAME: ClassVar[str] = "ClearElrRecord"
    API_KEY: ClassVar[int] = 28
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", default=""),
    )

    def __init__(
        self,
        topic_name: str = "",
    ) -> None:
        self.topic_name: str = topic_name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ClearElrRecord", version)
        write_compact_string(writer, self.topic_name)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ClearElrRecord:
        if version != 0:
            raise cannot_read("ClearElrRecord", version)
        topic_name: str = reader.read_compact_string()
        unknown = reader.read_unknown_tagged_fields()
        message = ClearElrRecord(topic_name)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ClearElrRecord:
        reader = Reader(data)
        message = ClearElrRecord.read(reader, version)
        reader.expect_end()
        return message
