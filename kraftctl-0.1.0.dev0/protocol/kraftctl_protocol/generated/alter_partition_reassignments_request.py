"""@generated from schemas/message/AlterPartitionReassignmentsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class ReassignablePartition(Message):
    NAME: ClassVar[str] = "ReassignablePartition"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("replicas", "Replicas", "[]int32", nullable=(0, 32767), default=None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.replicas: list[int] | None = replicas
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        if self.replicas is None:
            writer.append(0)
        else:
            write_uvarint(writer, len(self.replicas) + 1)
            for replicas_item in self.replicas:
                write_i32_be(writer, replicas_item)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReassignablePartition:
        if reader.position >= reader.pause_at:
            reader.pause()
        partition_index: int = reader.read_int32()
        replicas: list[int] | None = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
        unknown = reader.read_unknown_tagged_fields()
        message = ReassignablePartition(partition_index, replicas)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ReassignableTopic(Message):
    NAME: ClassVar[str] = "ReassignableTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("partitions", "Partitions", "[]ReassignablePartition", default=(), struct=ReassignablePartition),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartition] = EMPTY,
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartition] = [] if partitions is EMPTY else partitions
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
    def read(reader: Reader, version: i64) -> ReassignableTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        partitions: list[ReassignablePartition] = [ReassignablePartition.read(reader, version) for _ in range(reader.read_compact_array_length(6, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = ReassignableTopic(name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterPartitionReassignmentsRequest(Message):
    NAME: ClassVar[str] = "AlterPartitionReassignmentsRequest"
    API_KEY: ClassVar[int] = 45
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("timeout_ms", "TimeoutMs", "int32", default=60000),
        Field("allow_replication_factor_change", "AllowReplicationFactorChange", "bool", versions=(1, 32767), default=True),
        Field("topics", "Topics", "[]ReassignableTopic", default=(), struct=ReassignableTopic),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = EMPTY,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.topics: list[ReassignableTopic] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("AlterPartitionReassignmentsRequest", version)
        write_i32_be(writer, self.timeout_ms)
        if version >= 1:
            writer.append(1 if self.allow_replication_factor_change else 0)
        elif not self.allow_replication_factor_change:
            raise missing_field("AllowReplicationFactorChange", version)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterPartitionReassignmentsRequest:
        if version < 0 or version > 1:
            raise cannot_read("AlterPartitionReassignmentsRequest", version)
        timeout_ms: int = reader.read_int32()
        allow_replication_factor_change: bool = True
        if version >= 1:
            allow_replication_factor_change = reader.read_bool()
        topics: list[ReassignableTopic] = [ReassignableTopic.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterPartitionReassignmentsRequest(timeout_ms, allow_replication_factor_change, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterPartitionReassignmentsRequest:
        reader = Reader(data)
        message = AlterPartitionReassignmentsRequest.read(reader, version)
        reader.expect_end()
        return message
