"""@generated from schemas/message/DescribeQuorumResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_uint16,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class ReplicaState(Message):
    NAME: ClassVar[str] = "ReplicaState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "ReplicaId", "int32"),
        Field("replica_directory_id", "ReplicaDirectoryId", "uuid", versions=(2, 32767), default=ZERO_UUID),
        Field("log_end_offset", "LogEndOffset", "int64"),
        Field("last_fetch_timestamp", "LastFetchTimestamp", "int64", versions=(1, 32767), default=-1, ignorable=True),
        Field("last_caught_up_timestamp", "LastCaughtUpTimestamp", "int64", versions=(1, 32767), default=-1, ignorable=True),
    )

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_directory_id: bytes = replica_directory_id
        self.log_end_offset: int = log_end_offset
        self.last_fetch_timestamp: int = last_fetch_timestamp
        self.last_caught_up_timestamp: int = last_caught_up_timestamp
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.replica_id)
        if version >= 2:
            write_uuid(writer, self.replica_directory_id)
        elif self.replica_directory_id != ZERO_UUID:
            raise missing_field("ReplicaDirectoryId", version)
        write_i64_be(writer, self.log_end_offset)
        if version >= 1:
            write_i64_be(writer, self.last_fetch_timestamp)
        if version >= 1:
            write_i64_be(writer, self.last_caught_up_timestamp)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReplicaState:
        if reader.position >= reader.pause_at:
            reader.pause()
        replica_id: int = reader.read_int32()
        replica_directory_id: bytes = ZERO_UUID
        if version >= 2:
            replica_directory_id = reader.read_uuid()
        log_end_offset: int = reader.read_int64()
        last_fetch_timestamp: int = -1
        if version >= 1:
            last_fetch_timestamp = reader.read_int64()
        last_caught_up_timestamp: int = -1
        if version >= 1:
            last_caught_up_timestamp = reader.read_int64()
        unknown = reader.read_unknown_tagged_fields()
        message = ReplicaState(replica_id, replica_directory_id, log_end_offset, last_fetch_timestamp, last_caught_up_timestamp)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", versions=(2, 32767), nullable=(2, 32767), default="", ignorable=True),
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("high_watermark", "HighWatermark", "int64"),
        Field("current_voters", "CurrentVoters", "[]ReplicaState", default=(), struct=ReplicaState),
        Field("observers", "Observers", "[]ReplicaState", default=(), struct=ReplicaState),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = EMPTY,
        observers: list[ReplicaState] = EMPTY,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.high_watermark: int = high_watermark
        self.current_voters: list[ReplicaState] = [] if current_voters is EMPTY else current_voters
        self.observers: list[ReplicaState] = [] if observers is EMPTY else observers
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        write_i64_be(writer, self.high_watermark)
        write_uvarint(writer, len(self.current_voters) + 1)
        for current_voters_item in self.current_voters:
            current_voters_item.write(writer, version)
        write_uvarint(writer, len(self.observers) + 1)
        for observers_item in self.observers:
            observers_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = ""
        if version >= 2:
            error_message = reader.read_compact_nullable_string()
        at = reader.take(16)
        buffer = reader.buffer
        leader_id: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        high_watermark: int = read_i64_be(buffer, at + 8)
        current_voters: list[ReplicaState] = [ReplicaState.read(reader, version) for _ in range(reader.read_compact_array_length(13, 250))]
        observers: list[ReplicaState] = [ReplicaState.read(reader, version) for _ in range(reader.read_compact_array_length(13, 250))]
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, error_code, error_message, leader_id, leader_epoch, high_watermark, current_voters, observers)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class TopicData(Message):
    NAME: ClassVar[str] = "TopicData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", default=""),
        Field("partitions", "Partitions", "[]PartitionData", default=(), struct=PartitionData),
    )

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[PartitionData] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.topic_name)
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
        topic_name: str = reader.read_compact_string()
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(25, 274))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class Listener(Message):
    NAME: ClassVar[str] = "Listener"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(2, 32767), default=""),
        Field("host", "Host", "string", versions=(2, 32767), default=""),
        Field("port", "Port", "uint16", versions=(2, 32767)),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_compact_string(writer, self.host)
        write_uint16(writer, self.port)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> Listener:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        unknown = reader.read_unknown_tagged_fields()
        message = Listener(name, host, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class Node(Message):
    NAME: ClassVar[str] = "Node"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("node_id", "NodeId", "int32", versions=(2, 32767)),
        Field("listeners", "Listeners", "[]Listener", versions=(2, 32767), default=(), struct=Listener),
    )

    def __init__(
        self,
        node_id: int = 0,
        listeners: list[Listener] = EMPTY,
    ) -> None:
        self.node_id: int = node_id
        self.listeners: list[Listener] = [] if listeners is EMPTY else listeners
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.node_id)
        write_uvarint(writer, len(self.listeners) + 1)
        for listeners_item in self.listeners:
            listeners_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> Node:
        if reader.position >= reader.pause_at:
            reader.pause()
        node_id: int = reader.read_int32()
        listeners: list[Listener] = [Listener.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = Node(node_id, listeners)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeQuorumResponse(Message):
    NAME: ClassVar[str] = "DescribeQuorumResponse"
    API_KEY: ClassVar[int] = 55
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", versions=(2, 32767), nullable=(2, 32767), default="", ignorable=True),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
        Field("nodes", "Nodes", "[]Node", versions=(2, 32767), default=(), struct=Node),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[TopicData] = EMPTY,
        nodes: list[Node] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.nodes: list[Node] = [] if nodes is EMPTY else nodes
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("DescribeQuorumResponse", version)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version >= 2:
            write_uvarint(writer, len(self.nodes) + 1)
            for nodes_item in self.nodes:
                nodes_item.write(writer, version)
        elif self.nodes:
            raise missing_field("Nodes", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeQuorumResponse:
        if version < 0 or version > 2:
            raise cannot_read("DescribeQuorumResponse", version)
        error_code: int = reader.read_int16()
        error_message: str | None = ""
        if version >= 2:
            error_message = reader.read_compact_nullable_string()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        nodes: list[Node] = []
        if version >= 2:
            nodes = [Node.read(reader, version) for _ in range(reader.read_compact_array_length(6, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeQuorumResponse(error_code, error_message, topics, nodes)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeQuorumResponse:
        reader = Reader(data)
        message = DescribeQuorumResponse.read(reader, version)
        reader.expect_end()
        return message
