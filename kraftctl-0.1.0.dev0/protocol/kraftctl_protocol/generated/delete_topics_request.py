"""@generated from schemas/message/DeleteTopicsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class DeleteTopicState(Message):
    NAME: ClassVar[str] = "DeleteTopicState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(6, 32767), nullable=(6, 32767), default=None),
        Field("topic_id", "TopicId", "uuid", versions=(6, 32767), default=ZERO_UUID),
    )

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_nullable_string(writer, self.name)
        write_uuid(writer, self.topic_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteTopicState:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str | None = reader.read_compact_nullable_string()
        topic_id: bytes = reader.read_uuid()
        unknown = reader.read_unknown_tagged_fields()
        message = DeleteTopicState(name, topic_id)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DeleteTopicsRequest(Message):
    NAME: ClassVar[str] = "DeleteTopicsRequest"
    API_KEY: ClassVar[int] = 20
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topics", "Topics", "[]DeleteTopicState", versions=(6, 32767), default=(), struct=DeleteTopicState),
        Field("topic_names", "TopicNames", "[]string", versions=(0, 5), default=(), ignorable=True),
        Field("timeout_ms", "TimeoutMs", "int32"),
    )

    def __init__(
        self,
        topics: list[DeleteTopicState] = EMPTY,
        topic_names: list[str] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteTopicState] = [] if topics is EMPTY else topics
        self.topic_names: list[str] = [] if topic_names is EMPTY else topic_names
        self.timeout_ms: int = timeout_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 6:
            raise cannot_write("DeleteTopicsRequest", version)
        if version >= 6:
            write_uvarint(writer, len(self.topics) + 1)
            for topics_item in self.topics:
                topics_item.write(writer, version)
        elif self.topics:
            raise missing_field("Topics", version)
        if version <= 5:
            if version >= 4:
                write_uvarint(writer, len(self.topic_names) + 1)
                for topic_names_item in self.topic_names:
                    write_compact_string(writer, topic_names_item)
            else:
                write_i32_be(writer, len(self.topic_names))
                for topic_names_item in self.topic_names:
                    write_string(writer, topic_names_item)
        write_i32_be(writer, self.timeout_ms)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteTopicsRequest:
        if version < 0 or version > 6:
            raise cannot_read("DeleteTopicsRequest", version)
        topics: list[DeleteTopicState] = []
        if version >= 6:
            topics = [DeleteTopicState.read(reader, version) for _ in range(reader.read_compact_array_length(18, 130))]
        topic_names: list[str] = []
        if version <= 5:
            topic_names = [reader.read_compact_string() for _ in range(reader.read_compact_array_length(1, 10))] if version >= 4 else [reader.read_string() for _ in range(reader.read_array_length(2, 10))]
        timeout_ms: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteTopicsRequest(topics, topic_names, timeout_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DeleteTopicsRequest:
        reader = Reader(data)
        message = DeleteTopicsRequest.read(reader, version)
        reader.expect_end()
        return message
