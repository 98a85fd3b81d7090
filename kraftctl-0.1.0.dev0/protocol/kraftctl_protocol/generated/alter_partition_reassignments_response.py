"""@generated from schemas/message/AlterPartitionReassignmentsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
class ReassignablePartitionResponse(Message):
    NAME: ClassVar[str] = "ReassignablePartitionResponse"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReassignablePartitionResponse:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = ReassignablePartitionResponse(partition_index, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ReassignableTopicResponse(Message):
    NAME: ClassVar[str] = "ReassignableTopicResponse"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("partitions", "Partitions", "[]ReassignablePartitionResponse", default=(), struct=ReassignablePartitionResponse),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = EMPTY,
    ) -> None:
        self.name: str = name
        self.partitions: list[ReassignablePartitionResponse] = [] if partitions is EMPTY else partitions
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
    def read(reader: Reader, version: i64) -> ReassignableTopicResponse:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        partitions: list[ReassignablePartitionResponse] = [ReassignablePartitionResponse.read(reader, version) for _ in range(reader.read_compact_array_length(8, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = ReassignableTopicResponse(name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterPartitionReassignmentsResponse(Message):
    NAME: ClassVar[str] = "AlterPartitionReassignmentsResponse"
    API_KEY: ClassVar[int] = 45
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("allow_replication_factor_change", "AllowReplicationFactorChange", "bool", versions=(1, 32767), default=True, ignorable=True),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("responses", "Responses", "[]ReassignableTopicResponse", default=(), struct=ReassignableTopicResponse),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.allow_replication_factor_change: bool = allow_replication_factor_change
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[ReassignableTopicResponse] = [] if responses is EMPTY else responses
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("AlterPartitionReassignmentsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 1:
            writer.append(1 if self.allow_replication_factor_change else 0)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        write_uvarint(writer, len(self.responses) + 1)
        for responses_item in self.responses:
            responses_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterPartitionReassignmentsResponse:
        if version < 0 or version > 1:
            raise cannot_read("AlterPartitionReassignmentsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        allow_replication_factor_change: bool = True
        if version >= 1:
            allow_replication_factor_change = reader.read_bool()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string()
        responses: list[ReassignableTopicResponse] = [ReassignableTopicResponse.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterPartitionReassignmentsResponse(throttle_time_ms, allow_replication_factor_change, error_code, error_message, responses)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterPartitionReassignmentsResponse:
        reader = Reader(data)
        message = AlterPartitionReassignmentsResponse.read(reader, version)
        reader.expect_end()
        return message
