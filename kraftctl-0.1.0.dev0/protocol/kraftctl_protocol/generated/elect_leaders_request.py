"""@generated from schemas/message/ElectLeadersRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_int8,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class TopicPartitions(Message):
    NAME: ClassVar[str] = "TopicPartitions"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic", "Topic", "string", default=""),
        Field("partitions", "Partitions", "[]int32", default=()),
    )

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.topic)
        else:
            write_string(writer, self.topic)
        if version >= 2:
            write_uvarint(writer, len(self.partitions) + 1)
        else:
            write_i32_be(writer, len(self.partitions))
        for partitions_item in self.partitions:
            write_i32_be(writer, partitions_item)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> TopicPartitions:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        partitions: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 2 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = TopicPartitions(topic, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ElectLeadersRequest(Message):
    NAME: ClassVar[str] = "ElectLeadersRequest"
    API_KEY: ClassVar[int] = 43
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("election_type", "ElectionType", "int8", versions=(1, 32767)),
        Field("topic_partitions", "TopicPartitions", "[]TopicPartitions", nullable=(0, 32767), default=(), struct=TopicPartitions),
        Field("timeout_ms", "TimeoutMs", "int32", default=60000),
    )

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = EMPTY,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type: int = election_type
        self.topic_partitions: list[TopicPartitions] | None = [] if topic_partitions is EMPTY else topic_partitions
        self.timeout_ms: int = timeout_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("ElectLeadersRequest", version)
        if version >= 1:
            write_int8(writer, self.election_type)
        elif self.election_type != 0:
            raise missing_field("ElectionType", version)
        if self.topic_partitions is None:
            if version >= 2:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 2:
                write_uvarint(writer, len(self.topic_partitions) + 1)
            else:
                write_i32_be(writer, len(self.topic_partitions))
            for topic_partitions_item in self.topic_partitions:
                topic_partitions_item.write(writer, version)
        write_i32_be(writer, self.timeout_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ElectLeadersRequest:
        if version < 0 or version > 2:
            raise cannot_read("ElectLeadersRequest", version)
        election_type: int = 0
        if version >= 1:
            election_type = reader.read_int8()
        topic_partitions: list[TopicPartitions] | None = (None if (length := reader.read_compact_nullable_array_length(3, 130)) < 0 else [TopicPartitions.read(reader, version) for _ in range(length)]) if version >= 2 else (None if (length := reader.read_nullable_array_length(6, 130)) < 0 else [TopicPartitions.read(reader, version) for _ in range(length)])
        timeout_ms: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = ElectLeadersRequest(election_type, topic_partitions, timeout_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ElectLeadersRequest:
        reader = Reader(data)
        message = ElectLeadersRequest.read(reader, version)
        reader.expect_end()
        return message
