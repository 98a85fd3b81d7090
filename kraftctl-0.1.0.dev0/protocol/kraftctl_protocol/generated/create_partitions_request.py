"""@generated from schemas/message/CreatePartitionsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class CreatePartitionsAssignment(Message):
    NAME: ClassVar[str] = "CreatePartitionsAssignment"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_ids", "BrokerIds", "[]int32", default=()),
    )

    def __init__(
        self,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.broker_ids: list[int] = [] if broker_ids is EMPTY else broker_ids
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_uvarint(writer, len(self.broker_ids) + 1)
        else:
            write_i32_be(writer, len(self.broker_ids))
        for broker_ids_item in self.broker_ids:
            write_i32_be(writer, broker_ids_item)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatePartitionsAssignment:
        if reader.position >= reader.pause_at:
            reader.pause()
        broker_ids: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 2 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatePartitionsAssignment(broker_ids)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class CreatePartitionsTopic(Message):
    NAME: ClassVar[str] = "CreatePartitionsTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("count", "Count", "int32"),
        Field("assignments", "Assignments", "[]CreatePartitionsAssignment", nullable=(0, 32767), default=(), struct=CreatePartitionsAssignment),
    )

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = EMPTY,
    ) -> None:
        self.name: str = name
        self.count: int = count
        self.assignments: list[CreatePartitionsAssignment] | None = [] if assignments is EMPTY else assignments
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        write_i32_be(writer, self.count)
        if self.assignments is None:
            if version >= 2:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 2:
                write_uvarint(writer, len(self.assignments) + 1)
            else:
                write_i32_be(writer, len(self.assignments))
            for assignments_item in self.assignments:
                assignments_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatePartitionsTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        count_: int = reader.read_int32()
        assignments: list[CreatePartitionsAssignment] | None = (None if (length := reader.read_compact_nullable_array_length(2, 122)) < 0 else [CreatePartitionsAssignment.read(reader, version) for _ in range(length)]) if version >= 2 else (None if (length := reader.read_nullable_array_length(4, 122)) < 0 else [CreatePartitionsAssignment.read(reader, version) for _ in range(length)])
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatePartitionsTopic(name, count_, assignments)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreatePartitionsRequest(Message):
    NAME: ClassVar[str] = "CreatePartitionsRequest"
    API_KEY: ClassVar[int] = 37
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topics", "Topics", "[]CreatePartitionsTopic", default=(), struct=CreatePartitionsTopic),
        Field("timeout_ms", "TimeoutMs", "int32"),
        Field("validate_only", "ValidateOnly", "bool", default=False),
    )

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = EMPTY,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatePartitionsTopic] = [] if topics is EMPTY else topics
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("CreatePartitionsRequest", version)
        if version >= 2:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        write_i32_be(writer, self.timeout_ms)
        writer.append(1 if self.validate_only else 0)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatePartitionsRequest:
        if version < 0 or version > 3:
            raise cannot_read("CreatePartitionsRequest", version)
        topics: list[CreatePartitionsTopic] = [CreatePartitionsTopic.read(reader, version) for _ in range(reader.read_compact_array_length(7, 138))] if version >= 2 else [CreatePartitionsTopic.read(reader, version) for _ in range(reader.read_array_length(10, 138))]
        at = reader.take(5)
        buffer = reader.buffer
        timeout_ms: int = read_i32_be(buffer, at)
        validate_only: bool = buffer[at + 4] != 0
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatePartitionsRequest(topics, timeout_ms, validate_only)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreatePartitionsRequest:
        reader = Reader(data)
        message = CreatePartitionsRequest.read(reader, version)
        reader.expect_end()
        return message
