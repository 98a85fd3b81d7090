"""@generated from schemas/message/CreateTopicsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class CreatableReplicaAssignment(Message):
    NAME: ClassVar[str] = "CreatableReplicaAssignment"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("broker_ids", "BrokerIds", "[]int32", default=()),
    )

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.partition_index: int = partition_index
        self.broker_ids: list[int] = [] if broker_ids is EMPTY else broker_ids
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        if version >= 5:
            write_uvarint(writer, len(self.broker_ids) + 1)
        else:
            write_i32_be(writer, len(self.broker_ids))
        for broker_ids_item in self.broker_ids:
            write_i32_be(writer, broker_ids_item)
        if version >= 5:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatableReplicaAssignment:
        if reader.position >= reader.pause_at:
            reader.pause()
        partition_index: int = reader.read_int32()
        broker_ids: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 5 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatableReplicaAssignment(partition_index, broker_ids)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class CreatableTopicConfig(Message):
    NAME: ClassVar[str] = "CreatableTopicConfig"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("value", "Value", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 5:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        if version >= 5:
            write_compact_nullable_string(writer, self.value)
        else:
            write_nullable_string(writer, self.value)
        if version >= 5:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatableTopicConfig:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 5 else reader.read_string()
        value: str | None = reader.read_compact_nullable_string() if version >= 5 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatableTopicConfig(name, value)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class CreatableTopic(Message):
    NAME: ClassVar[str] = "CreatableTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("num_partitions", "NumPartitions", "int32"),
        Field("replication_factor", "ReplicationFactor", "int16"),
        Field("assignments", "Assignments", "[]CreatableReplicaAssignment", default=(), struct=CreatableReplicaAssignment),
        Field("configs", "Configs", "[]CreatableTopicConfig", default=(), struct=CreatableTopicConfig),
    )

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = EMPTY,
        configs: list[CreatableTopicConfig] = EMPTY,
    ) -> None:
        self.name: str = name
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.assignments: list[CreatableReplicaAssignment] = [] if assignments is EMPTY else assignments
        self.configs: list[CreatableTopicConfig] = [] if configs is EMPTY else configs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 5:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        write_i32_be(writer, self.num_partitions)
        write_i16_be(writer, self.replication_factor)
        if version >= 5:
            write_uvarint(writer, len(self.assignments) + 1)
        else:
            write_i32_be(writer, len(self.assignments))
        for assignments_item in self.assignments:
            assignments_item.write(writer, version)
        if version >= 5:
            write_uvarint(writer, len(self.configs) + 1)
        else:
            write_i32_be(writer, len(self.configs))
        for configs_item in self.configs:
            configs_item.write(writer, version)
        if version >= 5:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatableTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 5 else reader.read_string()
        at = reader.take(6)
        buffer = reader.buffer
        num_partitions: int = read_i32_be(buffer, at)
        replication_factor: int = read_i16_be(buffer, at + 4)
        assignments: list[CreatableReplicaAssignment] = [CreatableReplicaAssignment.read(reader, version) for _ in range(reader.read_compact_array_length(6, 130))] if version >= 5 else [CreatableReplicaAssignment.read(reader, version) for _ in range(reader.read_array_length(8, 130))]
        configs: list[CreatableTopicConfig] = [CreatableTopicConfig.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 5 else [CreatableTopicConfig.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatableTopic(name, num_partitions, replication_factor, assignments, configs)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreateTopicsRequest(Message):
    NAME: ClassVar[str] = "CreateTopicsRequest"
    API_KEY: ClassVar[int] = 19
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topics", "Topics", "[]CreatableTopic", default=(), struct=CreatableTopic),
        Field("timeout_ms", "timeoutMs", "int32", default=60000),
        Field("validate_only", "validateOnly", "bool", versions=(1, 32767), default=False),
    )

    def __init__(
        self,
        topics: list[CreatableTopic] = EMPTY,
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatableTopic] = [] if topics is EMPTY else topics
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 7:
            raise cannot_write("CreateTopicsRequest", version)
        if version >= 5:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        write_i32_be(writer, self.timeout_ms)
        if version >= 1:
            writer.append(1 if self.validate_only else 0)
        elif self.validate_only:
            raise missing_field("validateOnly", version)
        if version >= 5:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreateTopicsRequest:
        if version < 0 or version > 7:
            raise cannot_read("CreateTopicsRequest", version)
        topics: list[CreatableTopic] = [CreatableTopic.read(reader, version) for _ in range(reader.read_compact_array_length(10, 218))] if version >= 5 else [CreatableTopic.read(reader, version) for _ in range(reader.read_array_length(16, 218))]
        timeout_ms: int = reader.read_int32()
        validate_only: bool = False
        if version >= 1:
            validate_only = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 5:
            unknown = reader.read_unknown_tagged_fields()
        message = CreateTopicsRequest(topics, timeout_ms, validate_only)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreateTopicsRequest:
        reader = Reader(data)
        message = CreateTopicsRequest.read(reader, version)
        reader.expect_end()
        return message
