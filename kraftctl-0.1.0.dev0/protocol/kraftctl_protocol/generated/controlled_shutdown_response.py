"""@generated from schemas/message/ControlledShutdownResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class RemainingPartition(Message):
    NAME: ClassVar[str] = "RemainingPartition"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", default=""),
        Field("partition_index", "PartitionIndex", "int32"),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 3:
            write_compact_string(writer, self.topic_name)
        else:
            write_string(writer, self.topic_name)
        write_i32_be(writer, self.partition_index)
        if version >= 3:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> RemainingPartition:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_name: str = reader.read_compact_string() if version >= 3 else reader.read_string()
        partition_index: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            unknown = reader.read_unknown_tagged_fields()
        message = RemainingPartition(topic_name, partition_index)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ControlledShutdownResponse(Message):
    NAME: ClassVar[str] = "ControlledShutdownResponse"
    API_KEY: ClassVar[int] = 7
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("remaining_partitions", "RemainingPartitions", "[]RemainingPartition", default=(), struct=RemainingPartition),
    )

    def __init__(
        self,
        error_code: int = 0,
        remaining_partitions: list[RemainingPartition] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.remaining_partitions: list[RemainingPartition] = [] if remaining_partitions is EMPTY else remaining_partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("ControlledShutdownResponse", version)
        write_i16_be(writer, self.error_code)
        if version >= 3:
            write_uvarint(writer, len(self.remaining_partitions) + 1)
        else:
            write_i32_be(writer, len(self.remaining_partitions))
        for remaining_partitions_item in self.remaining_partitions:
            remaining_partitions_item.write(writer, version)
        if version >= 3:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ControlledShutdownResponse:
        if version < 0 or version > 3:
            raise cannot_read("ControlledShutdownResponse", version)
        error_code: int = reader.read_int16()
        remaining_partitions: list[RemainingPartition] = [RemainingPartition.read(reader, version) for _ in range(reader.read_compact_array_length(6, 66))] if version >= 3 else [RemainingPartition.read(reader, version) for _ in range(reader.read_array_length(6, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            unknown = reader.read_unknown_tagged_fields()
        message = ControlledShutdownResponse(error_code, remaining_partitions)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ControlledShutdownResponse:
        reader = Reader(data)
        message = ControlledShutdownResponse.read(reader, version)
        reader.expect_end()
        return message
