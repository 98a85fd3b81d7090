"""@generated from schemas/message/AlterPartitionResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_int8,
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
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("isr", "Isr", "[]int32", default=()),
        Field("leader_recovery_state", "LeaderRecoveryState", "int8", versions=(1, 32767), ignorable=True),
        Field("partition_epoch", "PartitionEpoch", "int32"),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.isr: list[int] = [] if isr is EMPTY else isr
        self.leader_recovery_state: int = leader_recovery_state
        self.partition_epoch: int = partition_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        write_uvarint(writer, len(self.isr) + 1)
        for isr_item in self.isr:
            write_i32_be(writer, isr_item)
        if version >= 1:
            write_int8(writer, self.leader_recovery_state)
        write_i32_be(writer, self.partition_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(14)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        leader_id: int = read_i32_be(buffer, at + 6)
        leader_epoch: int = read_i32_be(buffer, at + 10)
        isr: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        leader_recovery_state: int = 0
        if version >= 1:
            leader_recovery_state = reader.read_int8()
        partition_epoch: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, error_code, leader_id, leader_epoch, isr, leader_recovery_state, partition_epoch)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class TopicData(Message):
    NAME: ClassVar[str] = "TopicData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", versions=(0, 1), default="", ignorable=True),
        Field("topic_id", "TopicId", "uuid", versions=(2, 32767), default=ZERO_UUID, ignorable=True),
        Field("partitions", "Partitions", "[]PartitionData", default=(), struct=PartitionData),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionData] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version <= 1:
            write_compact_string(writer, self.topic_name)
        if version >= 2:
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
        topic_name: str = ""
        if version <= 1:
            topic_name = reader.read_compact_string()
        topic_id: bytes = ZERO_UUID
        if version >= 2:
            topic_id = reader.read_uuid()
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(20, 170))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_name, topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterPartitionResponse(Message):
    NAME: ClassVar[str] = "AlterPartitionResponse"
    API_KEY: ClassVar[int] = 56
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("AlterPartitionResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterPartitionResponse:
        if version < 0 or version > 3:
            raise cannot_read("AlterPartitionResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterPartitionResponse(throttle_time_ms, error_code, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterPartitionResponse:
        reader = Reader(data)
        message = AlterPartitionResponse.read(reader, version)
        reader.expect_end()
        return message
