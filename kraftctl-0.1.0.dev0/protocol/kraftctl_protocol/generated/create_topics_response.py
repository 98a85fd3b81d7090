"""@generated from schemas/message/CreateTopicsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_int8,
    write_nullable_string,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class CreatableTopicConfigs(Message):
    NAME: ClassVar[str] = "CreatableTopicConfigs"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(5, 32767), default=""),
        Field("value", "Value", "string", versions=(5, 32767), nullable=(5, 32767), default=""),
        Field("read_only", "ReadOnly", "bool", versions=(5, 32767), default=False),
        Field("config_source", "ConfigSource", "int8", versions=(5, 32767), default=-1, ignorable=True),
        Field("is_sensitive", "IsSensitive", "bool", versions=(5, 32767), default=False),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_compact_nullable_string(writer, self.value)
        writer.append(1 if self.read_only else 0)
        write_int8(writer, self.config_source)
        writer.append(1 if self.is_sensitive else 0)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatableTopicConfigs:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        value: str | None = reader.read_compact_nullable_string()
        read_only: bool = reader.read_bool()
        config_source: int = reader.read_int8()
        is_sensitive: bool = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = CreatableTopicConfigs(name, value, read_only, config_source, is_sensitive)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class CreatableTopicResult(Message):
    NAME: ClassVar[str] = "CreatableTopicResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("topic_id", "TopicId", "uuid", versions=(7, 32767), default=ZERO_UUID, ignorable=True),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", versions=(1, 32767), nullable=(1, 32767), default="", ignorable=True),
        Field("topic_config_error_code", "TopicConfigErrorCode", "int16", versions=(5, 32767), tagged=(5, 32767), tag=0, ignorable=True),
        Field("num_partitions", "NumPartitions", "int32", versions=(5, 32767), default=-1, ignorable=True),
        Field("replication_factor", "ReplicationFactor", "int16", versions=(5, 32767), default=-1, ignorable=True),
        Field("configs", "Configs", "[]CreatableTopicConfigs", versions=(5, 32767), nullable=(5, 32767), default=(), ignorable=True, struct=CreatableTopicConfigs),
    )

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = EMPTY,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topic_config_error_code: int = topic_config_error_code
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.configs: list[CreatableTopicConfigs] | None = [] if configs is EMPTY else configs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 5:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        if version >= 7:
            write_uuid(writer, self.topic_id)
        write_i16_be(writer, self.error_code)
        if version >= 1:
            if version >= 5:
                write_compact_nullable_string(writer, self.error_message)
            else:
                write_nullable_string(writer, self.error_message)
        if version >= 5:
            write_i32_be(writer, self.num_partitions)
        if version >= 5:
            write_i16_be(writer, self.replication_factor)
        if version >= 5:
            if self.configs is None:
                writer.append(0)
            else:
                write_uvarint(writer, len(self.configs) + 1)
                for configs_item in self.configs:
                    configs_item.write(writer, version)
        if version >= 5:
            if self.unknown_tagged_fields is None and self.topic_config_error_code == 0:
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if self.topic_config_error_code != 0:
                    at = begin_tag(writer, 0)
                    write_i16_be(writer, self.topic_config_error_code)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatableTopicResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 5 else reader.read_string()
        topic_id: bytes = ZERO_UUID
        if version >= 7:
            topic_id = reader.read_uuid()
        error_code: int = reader.read_int16()
        error_message: str | None = ""
        if version >= 1:
            error_message = reader.read_compact_nullable_string() if version >= 5 else reader.read_nullable_string()
        topic_config_error_code: int = 0
        num_partitions: int = -1
        if version >= 5:
            num_partitions = reader.read_int32()
        replication_factor: int = -1
        if version >= 5:
            replication_factor = reader.read_int16()
        configs: list[CreatableTopicConfigs] | None = []
        if version >= 5:
            configs = None if (length := reader.read_compact_nullable_array_length(6, 90)) < 0 else [CreatableTopicConfigs.read(reader, version) for _ in range(length)]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    topic_config_error_code = reader.read_int16()
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = CreatableTopicResult(name, topic_id, error_code, error_message, topic_config_error_code, num_partitions, replication_factor, configs)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreateTopicsResponse(Message):
    NAME: ClassVar[str] = "CreateTopicsResponse"
    API_KEY: ClassVar[int] = 19
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", versions=(2, 32767), ignorable=True),
        Field("topics", "Topics", "[]CreatableTopicResult", default=(), struct=CreatableTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[CreatableTopicResult] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 7:
            raise cannot_write("CreateTopicsResponse", version)
        if version >= 2:
            write_i32_be(writer, self.throttle_time_ms)
        if version >= 5:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version >= 5:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreateTopicsResponse:
        if version < 0 or version > 7:
            raise cannot_read("CreateTopicsResponse", version)
        throttle_time_ms: int = 0
        if version >= 2:
            throttle_time_ms = reader.read_int32()
        topics: list[CreatableTopicResult] = [CreatableTopicResult.read(reader, version) for _ in range(reader.read_compact_array_length(4, 242))] if version >= 5 else [CreatableTopicResult.read(reader, version) for _ in range(reader.read_array_length(4, 242))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            unknown = reader.read_unknown_tagged_fields()
        message = CreateTopicsResponse(throttle_time_ms, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreateTopicsResponse:
        reader = Reader(data)
        message = CreateTopicsResponse.read(reader, version)
        reader.expect_end()
        return message
