"""@generated from schemas/message/AlterPartitionRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
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
class BrokerState(Message):
    NAME: ClassVar[str] = "BrokerState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32", versions=(3, 32767)),
        Field("broker_epoch", "BrokerEpoch", "int64", versions=(3, 32767), default=-1),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.broker_id)
        write_i64_be(writer, self.broker_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerState:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(12)
        buffer = reader.buffer
        broker_id: int = read_i32_be(buffer, at)
        broker_epoch: int = read_i64_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerState(broker_id, broker_epoch)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("new_isr", "NewIsr", "[]int32", versions=(0, 2), default=()),
        Field("new_isr_with_epochs", "NewIsrWithEpochs", "[]BrokerState", versions=(3, 32767), default=(), struct=BrokerState),
        Field("leader_recovery_state", "LeaderRecoveryState", "int8", versions=(1, 32767)),
        Field("partition_epoch", "PartitionEpoch", "int32"),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = EMPTY,
        new_isr_with_epochs: list[BrokerState] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.leader_epoch: int = leader_epoch
        self.new_isr: list[int] = [] if new_isr is EMPTY else new_isr
        self.new_isr_with_epochs: list[BrokerState] = [] if new_isr_with_epochs is EMPTY else new_isr_with_epochs
        self.leader_recovery_state: int = leader_recovery_state
        self.partition_epoch: int = partition_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i32_be(writer, self.leader_epoch)
        if version <= 2:
            write_uvarint(writer, len(self.new_isr) + 1)
            for new_isr_item in self.new_isr:
                write_i32_be(writer, new_isr_item)
        elif self.new_isr:
            raise missing_field("NewIsr", version)
        if version >= 3:
            write_uvarint(writer, len(self.new_isr_with_epochs) + 1)
            for new_isr_with_epochs_item in self.new_isr_with_epochs:
                new_isr_with_epochs_item.write(writer, version)
        elif self.new_isr_with_epochs:
            raise missing_field("NewIsrWithEpochs", version)
        if version >= 1:
            write_int8(writer, self.leader_recovery_state)
        elif self.leader_recovery_state != 0:
            raise missing_field("LeaderRecoveryState", version)
        write_i32_be(writer, self.partition_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(8)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        new_isr: list[int] = []
        if version <= 2:
            new_isr = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        new_isr_with_epochs: list[BrokerState] = []
        if version >= 3:
            new_isr_with_epochs = [BrokerState.read(reader, version) for _ in range(reader.read_compact_array_length(13, 98))]
        leader_recovery_state: int = 0
        if version >= 1:
            leader_recovery_state = reader.read_int8()
        partition_epoch: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, leader_epoch, new_isr, new_isr_with_epochs, leader_recovery_state, partition_epoch)
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
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(14, 226))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_name, topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterPartitionRequest(Message):
    NAME: ClassVar[str] = "AlterPartitionRequest"
    API_KEY: ClassVar[int] = 56
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64", default=-1),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("AlterPartitionRequest", version)
        write_i32_be(writer, self.broker_id)
        write_i64_be(writer, self.broker_epoch)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterPartitionRequest:
        if version < 0 or version > 3:
            raise cannot_read("AlterPartitionRequest", version)
        at = reader.take(12)
        buffer = reader.buffer
        broker_id: int = read_i32_be(buffer, at)
        broker_epoch: int = read_i64_be(buffer, at + 4)
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterPartitionRequest(broker_id, broker_epoch, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterPartitionRequest:
        reader = Reader(data)
        message = AlterPartitionRequest.read(reader, version)
        reader.expect_end()
        return message
