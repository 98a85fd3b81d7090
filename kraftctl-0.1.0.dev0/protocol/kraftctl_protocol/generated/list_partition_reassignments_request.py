"""@generated from schemas/message/ListPartitionReassignmentsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class ListPartitionReassignmentsTopics(Message):
    NAME: ClassVar[str] = "ListPartitionReassignmentsTopics"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("partition_indexes", "PartitionIndexes", "[]int32", default=()),
    )

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = [] if partition_indexes is EMPTY else partition_indexes
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_uvarint(writer, len(self.partition_indexes) + 1)
        for partition_indexes_item in self.partition_indexes:
            write_i32_be(writer, partition_indexes_item)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ListPartitionReassignmentsTopics:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        partition_indexes: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        unknown = reader.read_unknown_tagged_fields()
        message = ListPartitionReassignmentsTopics(name, partition_indexes)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ListPartitionReassignmentsRequest(Message):
    NAME: ClassVar[str] = "ListPartitionReassignmentsRequest"
    API_KEY: ClassVar[int] = 46
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("timeout_ms", "TimeoutMs", "int32", default=60000),
        Field("topics", "Topics", "[]ListPartitionReassignmentsTopics", nullable=(0, 32767), default=None, struct=ListPartitionReassignmentsTopics),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.topics: list[ListPartitionReassignmentsTopics] | None = topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ListPartitionReassignmentsRequest", version)
        write_i32_be(writer, self.timeout_ms)
        if self.topics is None:
            writer.append(0)
        else:
            write_uvarint(writer, len(self.topics) + 1)
            for topics_item in self.topics:
                topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ListPartitionReassignmentsRequest:
        if version != 0:
            raise cannot_read("ListPartitionReassignmentsRequest", version)
        timeout_ms: int = reader.read_int32()
        topics: list[ListPartitionReassignmentsTopics] | None = None if (length := reader.read_compact_nullable_array_length(3, 130)) < 0 else [ListPartitionReassignmentsTopics.read(reader, version) for _ in range(length)]
        unknown = reader.read_unknown_tagged_fields()
        message = ListPartitionReassignmentsRequest(timeout_ms, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ListPartitionReassignmentsRequest:
        reader = Reader(data)
        message = ListPartitionReassignmentsRequest.read(reader, version)
        reader.expect_end()
        return message
