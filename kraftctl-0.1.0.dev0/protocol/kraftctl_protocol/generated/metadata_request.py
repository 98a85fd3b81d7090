"""@generated from schemas/message/MetadataRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field, null_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_nullable_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class MetadataRequestTopic(Message):
    NAME: ClassVar[str] = "MetadataRequestTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_id", "TopicId", "uuid", versions=(10, 32767), default=ZERO_UUID, ignorable=True),
        Field("name", "Name", "string", nullable=(10, 32767), default=""),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id: bytes = topic_id
        self.name: str | None = name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 10:
            write_uuid(writer, self.topic_id)
        if self.name is None and version < 10:
            raise null_field("Name", version)
        if version >= 9:
            write_compact_nullable_string(writer, self.name)
        else:
            write_nullable_string(writer, self.name)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataRequestTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_id: bytes = ZERO_UUID
        if version >= 10:
            topic_id = reader.read_uuid()
        name: str | None = reader.read_compact_nullable_string() if version >= 10 else (reader.read_compact_string() if version >= 9 else reader.read_string())
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataRequestTopic(topic_id, name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class MetadataRequest(Message):
    NAME: ClassVar[str] = "MetadataRequest"
    API_KEY: ClassVar[int] = 3
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topics", "Topics", "[]MetadataRequestTopic", nullable=(1, 32767), default=(), struct=MetadataRequestTopic),
        Field("allow_auto_topic_creation", "AllowAutoTopicCreation", "bool", versions=(4, 32767), default=True),
        Field("include_cluster_authorized_operations", "IncludeClusterAuthorizedOperations", "bool", versions=(8, 10), default=False),
        Field("include_topic_authorized_operations", "IncludeTopicAuthorizedOperations", "bool", versions=(8, 32767), default=False),
    )

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = EMPTY,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics: list[MetadataRequestTopic] | None = [] if topics is EMPTY else topics
        self.allow_auto_topic_creation: bool = allow_auto_topic_creation
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.include_topic_authorized_operations: bool = include_topic_authorized_operations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 13:
            raise cannot_write("MetadataRequest", version)
        if self.topics is None and version < 1:
            raise null_field("Topics", version)
        if self.topics is None:
            if version >= 9:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 9:
                write_uvarint(writer, len(self.topics) + 1)
            else:
                write_i32_be(writer, len(self.topics))
            for topics_item in self.topics:
                topics_item.write(writer, version)
        if version >= 4:
            writer.append(1 if self.allow_auto_topic_creation else 0)
        elif not self.allow_auto_topic_creation:
            raise missing_field("AllowAutoTopicCreation", version)
        if version >= 8 and version <= 10:
            writer.append(1 if self.include_cluster_authorized_operations else 0)
        elif self.include_cluster_authorized_operations:
            raise missing_field("IncludeClusterAuthorizedOperations", version)
        if version >= 8:
            writer.append(1 if self.include_topic_authorized_operations else 0)
        elif self.include_topic_authorized_operations:
            raise missing_field("IncludeTopicAuthorizedOperations", version)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataRequest:
        if version < 0 or version > 13:
            raise cannot_read("MetadataRequest", version)
        topics: list[MetadataRequestTopic] | None = ((None if (length := reader.read_compact_nullable_array_length(2, 130)) < 0 else [MetadataRequestTopic.read(reader, version) for _ in range(length)]) if version >= 9 else (None if (length := reader.read_nullable_array_length(2, 130)) < 0 else [MetadataRequestTopic.read(reader, version) for _ in range(length)])) if version >= 1 else [MetadataRequestTopic.read(reader, version) for _ in range(reader.read_array_length(2, 130))]
        allow_auto_topic_creation: bool = True
        if version >= 4:
            allow_auto_topic_creation = reader.read_bool()
        include_cluster_authorized_operations: bool = False
        if version >= 8 and version <= 10:
            include_cluster_authorized_operations = reader.read_bool()
        include_topic_authorized_operations: bool = False
        if version >= 8:
            include_topic_authorized_operations = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataRequest(topics, allow_auto_topic_creation, include_cluster_authorized_operations, include_topic_authorized_operations)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> MetadataRequest:
        reader = Reader(data)
        message = MetadataRequest.read(reader, version)
        reader.expect_end()
        return message
