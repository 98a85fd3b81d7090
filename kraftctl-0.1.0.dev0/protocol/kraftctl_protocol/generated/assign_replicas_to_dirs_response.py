"""@generated from schemas/message/AssignReplicasToDirsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, error_code)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class TopicData(Message):
    NAME: ClassVar[str] = "TopicData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_id", "TopicId", "uuid", default=ZERO_UUID),
        Field("partitions", "Partitions", "[]PartitionData", default=(), struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionData] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_uuid(writer, self.topic_id)
        write_uvarint(writer, len(self.partitions) + 1)
        for partitions_item in self.partitions:
            partitions_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> TopicData:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_id: bytes = reader.read_uuid()
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(7, 66))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DirectoryData(Message):
    NAME: ClassVar[str] = "DirectoryData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("id", "Id", "uuid", default=ZERO_UUID),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
    )

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.id: bytes = id
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_uuid(writer, self.id)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DirectoryData:
        if reader.position >= reader.pause_at:
            reader.pause()
        id: bytes = reader.read_uuid()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(18, 194))]
        unknown = reader.read_unknown_tagged_fields()
        message = DirectoryData(id, topics)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AssignReplicasToDirsResponse(Message):
    NAME: ClassVar[str] = "AssignReplicasToDirsResponse"
    API_KEY: ClassVar[int] = 73
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("directories", "Directories", "[]DirectoryData", default=(), struct=DirectoryData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[DirectoryData] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.directories: list[DirectoryData] = [] if directories is EMPTY else directories
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AssignReplicasToDirsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_uvarint(writer, len(self.directories) + 1)
        for directories_item in self.directories:
            directories_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AssignReplicasToDirsResponse:
        if version != 0:
            raise cannot_read("AssignReplicasToDirsResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        directories: list[DirectoryData] = [DirectoryData.read(reader, version) for _ in range(reader.read_compact_array_length(18, 194))]
        unknown = reader.read_unknown_tagged_fields()
        message = AssignReplicasToDirsResponse(throttle_time_ms, error_code, directories)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AssignReplicasToDirsResponse:
        reader = Reader(data)
        message = AssignReplicasToDirsResponse.read(reader, version)
        reader.expect_end()
        return message
