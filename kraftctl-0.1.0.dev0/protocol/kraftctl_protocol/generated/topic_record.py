"""@generated from schemas/metadata/TopicRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
    write_uuid,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class TopicRecord(Message):
    NAME: ClassVar[str] = "TopicRecord"
    API_KEY: ClassVar[int] = 2
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("topic_id", "TopicId", "uuid", default=ZERO_UUID),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("TopicRecord", version)
        write_compact_string(writer, self.name)
        write_uuid(writer, self.topic_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> TopicRecord:
        if version != 0:
            raise cannot_read("TopicRecord", version)
        name: str = reader.read_compact_string()
        topic_id: bytes = reader.read_uuid()
        unknown = reader.read_unknown_tagged_fields()
        message = TopicRecord(name, topic_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> TopicRecord:
        reader = Reader(data)
        message = TopicRecord.read(reader, version)
        reader.expect_end()
        return message
