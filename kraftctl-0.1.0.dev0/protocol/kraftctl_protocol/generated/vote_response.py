"""@generated from schemas/message/VoteResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uint16,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("vote_granted", "VoteGranted", "bool", default=False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        vote_granted: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.vote_granted: bool = vote_granted
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        writer.append(1 if self.vote_granted else 0)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(15)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        leader_id: int = read_i32_be(buffer, at + 6)
        leader_epoch: int = read_i32_be(buffer, at + 10)
        vote_granted: bool = buffer[at + 14] != 0
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, error_code, leader_id, leader_epoch, vote_granted)
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
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(16, 90))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class NodeEndpoint(Message):
    NAME: ClassVar[str] = "NodeEndpoint"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("node_id", "NodeId", "int32", versions=(1, 32767)),
        Field("host", "Host", "string", versions=(1, 32767), default=""),
        Field("port", "Port", "uint16", versions=(1, 32767)),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.node_id)
        write_compact_string(writer, self.host)
        write_uint16(writer, self.port)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> NodeEndpoint:
        if reader.position >= reader.pause_at:
            reader.pause()
        node_id: int = reader.read_int32()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        unknown = reader.read_unknown_tagged_fields()
        message = NodeEndpoint(node_id, host, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class VoteResponse(Message):
    NAME: ClassVar[str] = "VoteResponse"
    API_KEY: ClassVar[int] = 52
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
        Field("node_endpoints", "NodeEndpoints", "[]NodeEndpoint", versions=(1, 32767), tagged=(1, 32767), tag=0, default=(), struct=NodeEndpoint),
    )

    def __init__(
        self,
        error_code: int = 0,
        topics: list[TopicData] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("VoteResponse", version)
        write_i16_be(writer, self.error_code)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version < 1 and self.node_endpoints:
            raise missing_field("NodeEndpoints", version)
        if self.unknown_tagged_fields is None and not self.node_endpoints:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if version >= 1 and self.node_endpoints:
                at = begin_tag(writer, 0)
                write_uvarint(writer, len(self.node_endpoints) + 1)
                for node_endpoints_item in self.node_endpoints:
                    node_endpoints_item.write(writer, version)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> VoteResponse:
        if version < 0 or version > 2:
            raise cannot_read("VoteResponse", version)
        error_code: int = reader.read_int16()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        node_endpoints: list[NodeEndpoint] = []
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                if version < 1:
                    raise invalid_tag("VoteResponse", tag, version)
                node_endpoints = [NodeEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(8, 74))]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = VoteResponse(error_code, topics, node_endpoints)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> VoteResponse:
        reader = Reader(data)
        message = VoteResponse.read(reader, version)
        reader.expect_end()
        return message
