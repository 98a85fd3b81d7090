"""@generated from schemas/message/BeginQuorumEpochRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
    write_uint16,
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
        Field("voter_directory_id", "VoterDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID, ignorable=True),
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
    )

    def __init__(
        self,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.voter_directory_id: bytes = voter_directory_id
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        if version >= 1:
            write_uuid(writer, self.voter_directory_id)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        partition_index: int = reader.read_int32()
        voter_directory_id: bytes = ZERO_UUID
        if version >= 1:
            voter_directory_id = reader.read_uuid()
        at = reader.take(8)
        buffer = reader.buffer
        leader_id: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, voter_directory_id, leader_id, leader_epoch)
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
        if version >= 1:
            write_compact_string(writer, self.topic_name)
        else:
            write_string(writer, self.topic_name)
        if version >= 1:
            write_uvarint(writer, len(self.partitions) + 1)
        else:
            write_i32_be(writer, len(self.partitions))
        for partitions_item in self.partitions:
            partitions_item.write(writer, version)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> TopicData:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_name: str = reader.read_compact_string() if version >= 1 else reader.read_string()
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(13, 146))] if version >= 1 else [PartitionData.read(reader, version) for _ in range(reader.read_array_length(12, 146))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = TopicData(topic_name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class LeaderEndpoint(Message):
    NAME: ClassVar[str] = "LeaderEndpoint"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(1, 32767), default=""),
        Field("host", "Host", "string", versions=(1, 32767), default=""),
        Field("port", "Port", "uint16", versions=(1, 32767)),
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
    def read(reader: Reader, version: i64) -> LeaderEndpoint:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        unknown = reader.read_unknown_tagged_fields()
        message = LeaderEndpoint(name, host, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class BeginQuorumEpochRequest(Message):
    NAME: ClassVar[str] = "BeginQuorumEpochRequest"
    API_KEY: ClassVar[int] = 53
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=None),
        Field("voter_id", "VoterId", "int32", versions=(1, 32767), default=-1, ignorable=True),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
        Field("leader_endpoints", "LeaderEndpoints", "[]LeaderEndpoint", versions=(1, 32767), default=(), ignorable=True, struct=LeaderEndpoint),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[TopicData] = EMPTY,
        leader_endpoints: list[LeaderEndpoint] = EMPTY,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.leader_endpoints: list[LeaderEndpoint] = [] if leader_endpoints is EMPTY else leader_endpoints
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("BeginQuorumEpochRequest", version)
        if version >= 1:
            write_compact_nullable_string(writer, self.cluster_id)
        else:
            write_nullable_string(writer, self.cluster_id)
        if version >= 1:
            write_i32_be(writer, self.voter_id)
        if version >= 1:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version >= 1:
            write_uvarint(writer, len(self.leader_endpoints) + 1)
            for leader_endpoints_item in self.leader_endpoints:
                leader_endpoints_item.write(writer, version)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> BeginQuorumEpochRequest:
        if version < 0 or version > 1:
            raise cannot_read("BeginQuorumEpochRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        voter_id: int = -1
        if version >= 1:
            voter_id = reader.read_int32()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))] if version >= 1 else [TopicData.read(reader, version) for _ in range(reader.read_array_length(6, 130))]
        leader_endpoints: list[LeaderEndpoint] = []
        if version >= 1:
            leader_endpoints = [LeaderEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = BeginQuorumEpochRequest(cluster_id, voter_id, topics, leader_endpoints)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BeginQuorumEpochRequest:
        reader = Reader(data)
        message = BeginQuorumEpochRequest.read(reader, version)
        reader.expect_end()
        return message
