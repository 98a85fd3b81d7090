"""@generated from schemas/message/LeaderAndIsrResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class LeaderAndIsrPartitionError(Message):
    NAME: ClassVar[str] = "LeaderAndIsrPartitionError"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", versions=(0, 4), default="", ignorable=True),
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version <= 4:
            if version >= 4:
                write_compact_string(writer, self.topic_name)
            else:
                write_string(writer, self.topic_name)
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrPartitionError:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_name: str = ""
        if version <= 4:
            topic_name = reader.read_compact_string() if version >= 4 else reader.read_string()
        at = reader.take(6)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrPartitionError(topic_name, partition_index, error_code)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class LeaderAndIsrTopicError(Message):
    NAME: ClassVar[str] = "LeaderAndIsrTopicError"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_id", "TopicId", "uuid", versions=(5, 32767), default=ZERO_UUID),
        Field("partition_errors", "PartitionErrors", "[]LeaderAndIsrPartitionError", versions=(5, 32767), default=(), struct=LeaderAndIsrPartitionError),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partition_errors: list[LeaderAndIsrPartitionError] = EMPTY,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partition_errors: list[LeaderAndIsrPartitionError] = [] if partition_errors is EMPTY else partition_errors
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_uuid(writer, self.topic_id)
        write_uvarint(writer, len(self.partition_errors) + 1)
        for partition_errors_item in self.partition_errors:
            partition_errors_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrTopicError:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_id: bytes = reader.read_uuid()
        partition_errors: list[LeaderAndIsrPartitionError] = [LeaderAndIsrPartitionError.read(reader, version) for _ in range(reader.read_compact_array_length(7, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrTopicError(topic_id, partition_errors)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class LeaderAndIsrResponse(Message):
    NAME: ClassVar[str] = "LeaderAndIsrResponse"
    API_KEY: ClassVar[int] = 4
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("partition_errors", "PartitionErrors", "[]LeaderAndIsrPartitionError", versions=(0, 4), default=(), struct=LeaderAndIsrPartitionError),
        Field("topics", "Topics", "[]LeaderAndIsrTopicError", versions=(5, 32767), default=(), struct=LeaderAndIsrTopicError),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_errors: list[LeaderAndIsrPartitionError] = EMPTY,
        topics: list[LeaderAndIsrTopicError] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.partition_errors: list[LeaderAndIsrPartitionError] = [] if partition_errors is EMPTY else partition_errors
        self.topics: list[LeaderAndIsrTopicError] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 7:
            raise cannot_write("LeaderAndIsrResponse", version)
        write_i16_be(writer, self.error_code)
        if version <= 4:
            if version >= 4:
                write_uvarint(writer, len(self.partition_errors) + 1)
            else:
                write_i32_be(writer, len(self.partition_errors))
            for partition_errors_item in self.partition_errors:
                partition_errors_item.write(writer, version)
        elif self.partition_errors:
            raise missing_field("PartitionErrors", version)
        if version >= 5:
            write_uvarint(writer, len(self.topics) + 1)
            for topics_item in self.topics:
                topics_item.write(writer, version)
        elif self.topics:
            raise missing_field("Topics", version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrResponse:
        if version < 0 or version > 7:
            raise cannot_read("LeaderAndIsrResponse", version)
        error_code: int = reader.read_int16()
        partition_errors: list[LeaderAndIsrPartitionError] = []
        if version <= 4:
            partition_errors = [LeaderAndIsrPartitionError.read(reader, version) for _ in range(reader.read_compact_array_length(8, 74))] if version >= 4 else [LeaderAndIsrPartitionError.read(reader, version) for _ in range(reader.read_array_length(8, 74))]
        topics: list[LeaderAndIsrTopicError] = []
        if version >= 5:
            topics = [LeaderAndIsrTopicError.read(reader, version) for _ in range(reader.read_compact_array_length(18, 194))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrResponse(error_code, partition_errors, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> LeaderAndIsrResponse:
        reader = Reader(data)
        message = LeaderAndIsrResponse.read(reader, version)
        reader.expect_end()
        return message
