"""@generated from schemas/message/EndQuorumEpochRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
class ReplicaInfo(Message):
    NAME: ClassVar[str] = "ReplicaInfo"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("candidate_id", "CandidateId", "int32", versions=(1, 32767)),
        Field("candidate_directory_id", "CandidateDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID),
    )

    def __init__(
        self,
        candidate_id: int = 0,
        candidate_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.candidate_id: int = candidate_id
        self.candidate_directory_id: bytes = candidate_directory_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.candidate_id)
        write_uuid(writer, self.candidate_directory_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReplicaInfo:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(20)
        buffer = reader.buffer
        candidate_id: int = read_i32_be(buffer, at)
        candidate_directory_id: bytes = buffer[at + 4 : at + 20]
        unknown = reader.read_unknown_tagged_fields()
        message = ReplicaInfo(candidate_id, candidate_directory_id)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("preferred_successors", "PreferredSuccessors", "[]int32", versions=(0, 0), default=(), ignorable=True),
        Field("preferred_candidates", "PreferredCandidates", "[]ReplicaInfo", versions=(1, 32767), default=(), ignorable=True, struct=ReplicaInfo),
    )

    def __init__(
        self,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        preferred_successors: list[int] = EMPTY,
        preferred_candidates: list[ReplicaInfo] = EMPTY,
    ) -> None:
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.preferred_successors: list[int] = [] if preferred_successors is EMPTY else preferred_successors
        self.preferred_candidates: list[ReplicaInfo] = [] if preferred_candidates is EMPTY else preferred_candidates
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        if version <= 0:
            write_i32_be(writer, len(self.preferred_successors))
            for preferred_successors_item in self.preferred_successors:
                write_i32_be(writer, preferred_successors_item)
        if version >= 1:
            write_uvarint(writer, len(self.preferred_candidates) + 1)
            for preferred_candidates_item in self.preferred_candidates:
                preferred_candidates_item.write(writer, version)
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
        at = reader.take(12)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        leader_id: int = read_i32_be(buffer, at + 4)
        leader_epoch: int = read_i32_be(buffer, at + 8)
        preferred_successors: list[int] = []
        if version <= 0:
            preferred_successors = [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        preferred_candidates: list[ReplicaInfo] = []
        if version >= 1:
            preferred_candidates = [ReplicaInfo.read(reader, version) for _ in range(reader.read_compact_array_length(21, 130))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, leader_id, leader_epoch, preferred_successors, preferred_candidates)
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
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(14, 218))] if version >= 1 else [PartitionData.read(reader, version) for _ in range(reader.read_array_length(16, 218))]
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
class EndQuorumEpochRequest(Message):
    NAME: ClassVar[str] = "EndQuorumEpochRequest"
    API_KEY: ClassVar[int] = 54
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=None),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
        Field("leader_endpoints", "LeaderEndpoints", "[]LeaderEndpoint", versions=(1, 32767), default=(), ignorable=True, struct=LeaderEndpoint),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        topics: list[TopicData] = EMPTY,
        leader_endpoints: list[LeaderEndpoint] = EMPTY,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.leader_endpoints: list[LeaderEndpoint] = [] if leader_endpoints is EMPTY else leader_endpoints
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("EndQuorumEpochRequest", version)
        if version >= 1:
            write_compact_nullable_string(writer, self.cluster_id)
        else:
            write_nullable_string(writer, self.cluster_id)
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
    def read(reader: Reader, version: i64) -> EndQuorumEpochRequest:
        if version < 0 or version > 1:
            raise cannot_read("EndQuorumEpochRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))] if version >= 1 else [TopicData.read(reader, version) for _ in range(reader.read_array_length(6, 130))]
        leader_endpoints: list[LeaderEndpoint] = []
        if version >= 1:
            leader_endpoints = [LeaderEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = EndQuorumEpochRequest(cluster_id, topics, leader_endpoints)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> EndQuorumEpochRequest:
        reader = Reader(data)
        message = EndQuorumEpochRequest.read(reader, version)
        reader.expect_end()
        return message
