"""@generated from schemas/message/FetchSnapshotResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field, null_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_bytes,
    write_compact_string,
    write_uint16,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields


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
class LeaderIdAndEpoch(Message):
    NAME: ClassVar[str] = "LeaderIdAndEpoch"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
    )

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.leader_id == 0
            and self.leader_epoch == 0
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderIdAndEpoch:
        at = reader.take(8)
        buffer = reader.buffer
        leader_id: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = LeaderIdAndEpoch(leader_id, leader_epoch)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionSnapshot(Message):
    NAME: ClassVar[str] = "PartitionSnapshot"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("index", "Index", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("snapshot_id", "SnapshotId", "SnapshotId", default=(), struct=SnapshotId),
        Field("current_leader", "CurrentLeader", "LeaderIdAndEpoch", tagged=(0, 32767), tag=0, default=(), struct=LeaderIdAndEpoch),
        Field("size", "Size", "int64"),
        Field("position", "Position", "int64"),
        Field("unaligned_records", "UnalignedRecords", "records", default=None),
    )

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: SnapshotId | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: bytes | None = None,
    ) -> None:
        self.index: int = index
        self.error_code: int = error_code
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is None else snapshot_id
        self.current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.size: int = size
        self.position: int = position
        self.unaligned_records: bytes | None = unaligned_records
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.index)
        write_i16_be(writer, self.error_code)
        self.snapshot_id.write(writer, version)
        write_i64_be(writer, self.size)
        write_i64_be(writer, self.position)
        if self.unaligned_records is None:
            raise null_field("UnalignedRecords", version)
        write_compact_bytes(writer, self.unaligned_records)
        if self.unknown_tagged_fields is None and self.current_leader.is_default():
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if not self.current_leader.is_default():
                at = begin_tag(writer, 0)
                self.current_leader.write(writer, version)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionSnapshot:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        snapshot_id: SnapshotId = SnapshotId.read(reader, version)
        current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
        at = reader.take(16)
        buffer = reader.buffer
        size_: int = read_i64_be(buffer, at)
        position: int = read_i64_be(buffer, at + 8)
        unaligned_records: bytes | None = reader.read_compact_bytes()
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                current_leader = LeaderIdAndEpoch.read(reader, version)
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = PartitionSnapshot(index, error_code, snapshot_id, current_leader, size_, position, unaligned_records)
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
        partitions: list[PartitionSnapshot] = [PartitionSnapshot.read(reader, version) for _ in range(reader.read_compact_array_length(37, 314))]
        unknown = reader.read_unknown_tagged_fields()
        message = TopicSnapshot(name, partitions)
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
class FetchSnapshotResponse(Message):
    NAME: ClassVar[str] = "FetchSnapshotResponse"
    API_KEY: ClassVar[int] = 59
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", ignorable=True),
        Field("error_code", "ErrorCode", "int16"),
        Field("topics", "Topics", "[]TopicSnapshot", default=(), struct=TopicSnapshot),
        Field("node_endpoints", "NodeEndpoints", "[]NodeEndpoint", versions=(1, 32767), tagged=(1, 32767), tag=0, default=(), struct=NodeEndpoint),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[TopicSnapshot] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.topics: list[TopicSnapshot] = [] if topics is EMPTY else topics
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("FetchSnapshotResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
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
    def read(reader: Reader, version: i64) -> FetchSnapshotResponse:
        if version < 0 or version > 1:
            raise cannot_read("FetchSnapshotResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        topics: list[TopicSnapshot] = [TopicSnapshot.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))]
        node_endpoints: list[NodeEndpoint] = []
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                if version < 1:
                    raise invalid_tag("FetchSnapshotResponse", tag, version)
                node_endpoints = [NodeEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(8, 74))]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = FetchSnapshotResponse(throttle_time_ms, error_code, topics, node_endpoints)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FetchSnapshotResponse:
        reader = Reader(data)
        message = FetchSnapshotResponse.read(reader, version)
        reader.expect_end()
        return message
