"""@generated from schemas/message/FetchSnapshotRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class SnapshotId(Message):
    NAME: ClassVar[str] = "SnapshotId"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("end_offset", "EndOffset", "int64"),
        Field("epoch", "Epoch", "int32"),
    )

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.end_offset == 0
            and self.epoch == 0
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i64_be(writer, self.end_offset)
        write_i32_be(writer, self.epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> SnapshotId:
        at = reader.take(12)
        buffer = reader.buffer
        end_offset: int = read_i64_be(buffer, at)
        epoch: int = read_i32_be(buffer, at + 8)
        unknown = reader.read_unknown_tagged_fields()
        message = SnapshotId(end_offset, epoch)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionSnapshot(Message):
    NAME: ClassVar[str] = "PartitionSnapshot"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition", "Partition", "int32"),
        Field("current_leader_epoch", "CurrentLeaderEpoch", "int32"),
        Field("snapshot_id", "SnapshotId", "SnapshotId", default=(), struct=SnapshotId),
        Field("position", "Position", "int64"),
        Field("replica_directory_id", "ReplicaDirectoryId", "uuid", versions=(1, 32767), tagged=(1, 32767), tag=0, default=ZERO_UUID, ignorable=True),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: SnapshotId | None = None,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is None else snapshot_id
        self.position: int = position
        self.replica_directory_id: bytes = replica_directory_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition)
        write_i32_be(writer, self.current_leader_epoch)
        self.snapshot_id.write(writer, version)
        write_i64_be(writer, self.position)
        if self.unknown_tagged_fields is None and self.replica_directory_id == ZERO_UUID:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if version >= 1 and self.replica_directory_id != ZERO_UUID:
                at = begin_tag(writer, 0)
                write_uuid(writer, self.replica_directory_id)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionSnapshot:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(8)
        buffer = reader.buffer
        partition: int = read_i32_be(buffer, at)
        current_leader_epoch: int = read_i32_be(buffer, at + 4)
        snapshot_id: SnapshotId = SnapshotId.read(reader, version)
        position: int = reader.read_int64()
        replica_directory_id: bytes = ZERO_UUID
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                if version < 1:
                    raise invalid_tag("PartitionSnapshot", tag, version)
                replica_directory_id = reader.read_uuid()
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = PartitionSnapshot(partition, current_leader_epoch, snapshot_id, position, replica_directory_id)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class TopicSnapshot(Message):
    NAME: ClassVar[str] = "TopicSnapshot"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("partitions", "Partitions", "[]PartitionSnapshot", default=(), struct=PartitionSnapshot),
    )

    def __init__(
        self,
        name: str = "",
        partitions: list[PartitionSnapshot] = EMPTY,
    ) -> None:
        self.name: str = name
        self.partitions: list[PartitionSnapshot] = [] if partitions is EMPTY else partitions
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
    def read(reader: Reader, version: i64) -> TopicSnapshot:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        partitions: list[PartitionSnapshot] = [PartitionSnapshot.read(reader, version) for _ in range(reader.read_compact_array_length(30, 274))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicSnapshot(name, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class FetchSnapshotRequest(Message):
    NAME: ClassVar[str] = "FetchSnapshotRequest"
    API_KEY: ClassVar[int] = 59
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), tagged=(0, 32767), tag=0, default=None),
        Field("replica_id", "ReplicaId", "int32", default=-1),
        Field("max_bytes", "MaxBytes", "int32", default=2147483647),
        Field("topics", "Topics", "[]TopicSnapshot", default=(), struct=TopicSnapshot),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[TopicSnapshot] = EMPTY,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.replica_id: int = replica_id
        self.max_bytes: int = max_bytes
        self.topics: list[TopicSnapshot] = [] if topics is EMPTY else topics
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("FetchSnapshotRequest", version)
        write_i32_be(writer, self.replica_id)
        write_i32_be(writer, self.max_bytes)
        write_uvarint(writer, len(self.topics) + 1)
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if self.unknown_tagged_fields is None and self.cluster_id is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.cluster_id is not None:
                at = begin_tag(writer, 0)
                write_compact_string(writer, self.cluster_id)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> FetchSnapshotRequest:
        if version < 0 or version > 1:
            raise cannot_read("FetchSnapshotRequest", version)
        cluster_id: str | None = None
        at = reader.take(8)
        buffer = reader.buffer
        replica_id: int = read_i32_be(buffer, at)
        max_bytes: int = read_i32_be(buffer, at + 4)
        topics: list[TopicSnapshot] = [TopicSnapshot.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                cluster_id = reader.read_compact_nullable_string()
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = FetchSnapshotRequest(cluster_id, replica_id, max_bytes, topics)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FetchSnapshotRequest:
        reader = Reader(data)
        message = FetchSnapshotRequest.read(reader, version)
        reader.expect_end()
        return message
