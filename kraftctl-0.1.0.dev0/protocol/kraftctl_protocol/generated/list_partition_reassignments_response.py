"""@generated from schemas/message/ListPartitionReassignmentsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class OngoingPartitionReassignment(Message):
    NAME: ClassVar[str] = "OngoingPartitionReassignment"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("replicas", "Replicas", "[]int32", default=()),
        Field("adding_replicas", "AddingReplicas", "[]int32", default=()),
        Field("removing_replicas", "RemovingReplicas", "[]int32", default=()),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] = [] if replicas is EMPTY else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is EMPTY else removing_replicas
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_uvarint(writer, len(self.replicas) + 1)
        for replicas_item in self.replicas:
            write_i32_be(writer, replicas_item)
        write_uvarint(writer, len(self.adding_replicas) + 1)
        for adding_replicas_item in self.adding_replicas:
            write_i32_be(writer, adding_replicas_item)
        write_uvarint(writer, len(self.removing_replicas) + 1)
        for removing_replicas_item in self.removing_replicas:
            write_i32_be(writer, removing_replicas_item)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> OngoingPartitionReassignment:
        if reader.position >= reader.pause_at:
            reader.pause()
        partition_index: int = reader.read_int32()
        replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        adding_replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        removing_replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        unknown = reader.read_unknown_tagged_fields()
        message = OngoingPartitionReassignment(partition_index, replicas, adding_replicas, removing_replicas)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class OngoingTopicReassignment(Message):
    NAME: ClassVar[str] = "OngoingTopicReassignment"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("partitions", "Partitions", "[]OngoingPartitionReassignment", default=(), struct=OngoingPartitionReassignment),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = EMPTY,
    ) -> None:
        self.name: str = name
        self.partitions: list[OngoingPartitionReassignment] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_uvarint(writer, len(self.partitions) + 1)
        for partitions_item in self.partitions:
            partitions_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> OngoingTopicReassignment:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        partitions: list[OngoingPartitionReassignment] = [OngoingPartitionReassignment.read(reader, version) for _ in range(reader.read_compact_array_length(8, 274))]
        unknown = reader.read_unknown_tagged_fields()
        message = OngoingTopicReassignment(name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ListPartitionReassignmentsResponse(Message):
    NAME: ClassVar[str] = "ListPartitionReassignmentsResponse"
    API_KEY: ClassVar[int] = 46
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("topics", "Topics", "[]OngoingTopicReassignment", default=(), struct=OngoingTopicReassignment),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[OngoingTopicReassignment] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ListPartitionReassignmentsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ListPartitionReassignmentsResponse:
        if version != 0:
            raise cannot_read("ListPartitionReassignmentsResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        topics: list[OngoingTopicReassignment] = [OngoingTopicReassignment.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = ListPartitionReassignmentsResponse(throttle_time_ms, error_code, error_message, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ListPartitionReassignmentsResponse:
        reader = Reader(data)
        message = ListPartitionReassignmentsResponse.read(reader, version)
        reader.expect_end()
        return message
