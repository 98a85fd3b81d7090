"""@generated from schemas/message/VoteRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
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
        Field("replica_epoch", "ReplicaEpoch", "int32"),
        Field("replica_id", "ReplicaId", "int32"),
        Field("replica_directory_id", "ReplicaDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID, ignorable=True),
        Field("voter_directory_id", "VoterDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID, ignorable=True),
        Field("last_offset_epoch", "LastOffsetEpoch", "int32"),
        Field("last_offset", "LastOffset", "int64"),
        Field("pre_vote", "PreVote", "bool", versions=(2, 32767), default=False),
    )

    def __init__(
        self,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        voter_directory_id: bytes = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
    ) -> None:
        self.partition_index: int = partition_index
        self.replica_epoch: int = replica_epoch
        self.replica_id: int = replica_id
        self.replica_directory_id: bytes = replica_directory_id
        self.voter_directory_id: bytes = voter_directory_id
        self.last_offset_epoch: int = last_offset_epoch
        self.last_offset: int = last_offset
        self.pre_vote: bool = pre_vote
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i32_be(writer, self.replica_epoch)
        write_i32_be(writer, self.replica_id)
        if version >= 1:
            write_uuid(writer, self.replica_directory_id)
        if version >= 1:
            write_uuid(writer, self.voter_directory_id)
        write_i32_be(writer, self.last_offset_epoch)
        write_i64_be(writer, self.last_offset)
        if version >= 2:
            writer.append(1 if self.pre_vote else 0)
        elif self.pre_vote:
            raise missing_field("PreVote", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(12)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        replica_epoch: int = read_i32_be(buffer, at + 4)
        replica_id: int = read_i32_be(buffer, at + 8)
        replica_directory_id: bytes = ZERO_UUID
        if version >= 1:
            replica_directory_id = reader.read_uuid()
        voter_directory_id: bytes = ZERO_UUID
        if version >= 1:
            voter_directory_id = reader.read_uuid()
        at = reader.take(12)
        buffer = reader.buffer
        last_offset_epoch: int = read_i32_be(buffer, at)
        last_offset: int = read_i64_be(buffer, at + 4)
        pre_vote: bool = False
        if version >= 2:
            pre_vote = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = PartitionData(partition_index, replica_epoch, replica_id, replica_directory_id, voter_directory_id, last_offset_epoch, last_offset, pre_vote)
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


@mypyc_attr(acyclic=True, free_list_len=1)
class VoteRequest(Message):
    NAME: ClassVar[str] = "VoteRequest"
    API_KEY: ClassVar[int] = 52
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=None),
        Field("voter_id", "VoterId", "int32", versions=(1, 32767), default=-1, ignorable=True),
        Field("topics", "Topics", "[]TopicData", default=(), struct=TopicData),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.topics: list[TopicData] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("VoteRequest", version)
        write_compact_nullable_string(writer, self.cluster_id)
        if version >= 1:
            write_i32_be(writer, self.voter_id)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> VoteRequest:
        if version < 0 or version > 2:
            raise cannot_read("VoteRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string()
        voter_id: int = -1
        if version >= 1:
            voter_id = reader.read_int32()
        topics: list[TopicData] = [TopicData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = VoteRequest(cluster_id, voter_id, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> VoteRequest:
        reader = Reader(data)
        message = VoteRequest.read(reader, version)
        reader.expect_end()
        return message
