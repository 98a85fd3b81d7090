"""@generated from schemas/message/FetchResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_bytes,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_bytes,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class EpochEndOffset(Message):
    NAME: ClassVar[str] = "EpochEndOffset"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("epoch", "Epoch", "int32", versions=(12, 32767), default=-1),
        Field("end_offset", "EndOffset", "int64", versions=(12, 32767), default=-1),
    )

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch: int = epoch
        self.end_offset: int = end_offset
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.epoch == -1
            and self.end_offset == -1
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.epoch)
        write_i64_be(writer, self.end_offset)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> EpochEndOffset:
        at = reader.take(12)
        buffer = reader.buffer
        epoch: int = read_i32_be(buffer, at)
        end_offset: int = read_i64_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = EpochEndOffset(epoch, end_offset)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class LeaderIdAndEpoch(Message):
    NAME: ClassVar[str] = "LeaderIdAndEpoch"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("leader_id", "LeaderId", "int32", versions=(12, 32767), default=-1),
        Field("leader_epoch", "LeaderEpoch", "int32", versions=(12, 32767), default=-1),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.leader_id == -1
            and self.leader_epoch == -1
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
class SnapshotId(Message):
    NAME: ClassVar[str] = "SnapshotId"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("end_offset", "EndOffset", "int64", default=-1),
        Field("epoch", "Epoch", "int32", default=-1),
    )

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.end_offset == -1
            and self.epoch == -1
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
class AbortedTransaction(Message):
    NAME: ClassVar[str] = "AbortedTransaction"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("producer_id", "ProducerId", "int64", versions=(4, 32767)),
        Field("first_offset", "FirstOffset", "int64", versions=(4, 32767)),
    )

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.first_offset: int = first_offset
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i64_be(writer, self.producer_id)
        write_i64_be(writer, self.first_offset)
        if version >= 12:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AbortedTransaction:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(16)
        buffer = reader.buffer
        producer_id: int = read_i64_be(buffer, at)
        first_offset: int = read_i64_be(buffer, at + 8)
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            unknown = reader.read_unknown_tagged_fields()
        message = AbortedTransaction(producer_id, first_offset)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class PartitionData(Message):
    NAME: ClassVar[str] = "PartitionData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_index", "PartitionIndex", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("high_watermark", "HighWatermark", "int64"),
        Field("last_stable_offset", "LastStableOffset", "int64", versions=(4, 32767), default=-1, ignorable=True),
        Field("log_start_offset", "LogStartOffset", "int64", versions=(5, 32767), default=-1, ignorable=True),
        Field("diverging_epoch", "DivergingEpoch", "EpochEndOffset", versions=(12, 32767), tagged=(12, 32767), tag=0, default=(), struct=EpochEndOffset),
        Field("current_leader", "CurrentLeader", "LeaderIdAndEpoch", versions=(12, 32767), tagged=(12, 32767), tag=1, default=(), struct=LeaderIdAndEpoch),
        Field("snapshot_id", "SnapshotId", "SnapshotId", versions=(12, 32767), tagged=(12, 32767), tag=2, default=(), struct=SnapshotId),
        Field("aborted_transactions", "AbortedTransactions", "[]AbortedTransaction", versions=(4, 32767), nullable=(4, 32767), default=(), ignorable=True, struct=AbortedTransaction),
        Field("preferred_read_replica", "PreferredReadReplica", "int32", versions=(11, 32767), default=-1),
        Field("records", "Records", "records", nullable=(0, 32767), default=None),
    )

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = EMPTY,
        preferred_read_replica: int = -1,
        records: bytes | None = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.high_watermark: int = high_watermark
        self.last_stable_offset: int = last_stable_offset
        self.log_start_offset: int = log_start_offset
        self.diverging_epoch: EpochEndOffset = EpochEndOffset() if diverging_epoch is None else diverging_epoch
        self.current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.snapshot_id: SnapshotId = SnapshotId() if snapshot_id is None else snapshot_id
        self.aborted_transactions: list[AbortedTransaction] | None = [] if aborted_transactions is EMPTY else aborted_transactions
        self.preferred_read_replica: int = preferred_read_replica
        self.records: bytes | None = records
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_index)
        write_i16_be(writer, self.error_code)
        write_i64_be(writer, self.high_watermark)
        if version >= 4:
            write_i64_be(writer, self.last_stable_offset)
        if version >= 5:
            write_i64_be(writer, self.log_start_offset)
        if version < 12 and not self.diverging_epoch.is_default():
            raise missing_field("DivergingEpoch", version)
        if version < 12 and not self.current_leader.is_default():
            raise missing_field("CurrentLeader", version)
        if version < 12 and not self.snapshot_id.is_default():
            raise missing_field("SnapshotId", version)
        if version >= 4:
            if self.aborted_transactions is None:
                if version >= 12:
                    writer.append(0)
                else:
                    write_i32_be(writer, -1)
            else:
                if version >= 12:
                    write_uvarint(writer, len(self.aborted_transactions) + 1)
                else:
                    write_i32_be(writer, len(self.aborted_transactions))
                for aborted_transactions_item in self.aborted_transactions:
                    aborted_transactions_item.write(writer, version)
        if version >= 11:
            write_i32_be(writer, self.preferred_read_replica)
        elif self.preferred_read_replica != -1:
            raise missing_field("PreferredReadReplica", version)
        if version >= 12:
            write_compact_nullable_bytes(writer, self.records)
        else:
            write_nullable_bytes(writer, self.records)
        if version >= 12:
            if self.unknown_tagged_fields is None and self.diverging_epoch.is_default() and self.current_leader.is_default() and self.snapshot_id.is_default():
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if not self.diverging_epoch.is_default():
                    at = begin_tag(writer, 0)
                    self.diverging_epoch.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                if not self.current_leader.is_default():
                    at = begin_tag(writer, 1)
                    self.current_leader.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                if not self.snapshot_id.is_default():
                    at = begin_tag(writer, 2)
                    self.snapshot_id.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionData:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(14)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        high_watermark: int = read_i64_be(buffer, at + 6)
        last_stable_offset: int = -1
        if version >= 4:
            last_stable_offset = reader.read_int64()
        log_start_offset: int = -1
        if version >= 5:
            log_start_offset = reader.read_int64()
        diverging_epoch: EpochEndOffset = EpochEndOffset()
        current_leader: LeaderIdAndEpoch = LeaderIdAndEpoch()
        snapshot_id: SnapshotId = SnapshotId()
        aborted_transactions: list[AbortedTransaction] | None = []
        if version >= 4:
            aborted_transactions = (None if (length := reader.read_compact_nullable_array_length(17, 130)) < 0 else [AbortedTransaction.read(reader, version) for _ in range(length)]) if version >= 12 else (None if (length := reader.read_nullable_array_length(16, 130)) < 0 else [AbortedTransaction.read(reader, version) for _ in range(length)])
        preferred_read_replica: int = -1
        if version >= 11:
            preferred_read_replica = reader.read_int32()
        records: bytes | None = reader.read_compact_nullable_bytes() if version >= 12 else reader.read_nullable_bytes()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    diverging_epoch = EpochEndOffset.read(reader, version)
                elif tag == 1:
                    current_leader = LeaderIdAndEpoch.read(reader, version)
                elif tag == 2:
                    snapshot_id = SnapshotId.read(reader, version)
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, diverging_epoch, current_leader, snapshot_id, aborted_transactions, preferred_read_replica, records)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class FetchableTopicResponse(Message):
    NAME: ClassVar[str] = "FetchableTopicResponse"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic", "Topic", "string", versions=(0, 12), default="", ignorable=True),
        Field("topic_id", "TopicId", "uuid", versions=(13, 32767), default=ZERO_UUID, ignorable=True),
        Field("partitions", "Partitions", "[]PartitionData", default=(), struct=PartitionData),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[PartitionData] = [] if partitions is EMPTY else partitions
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version <= 12:
            if version >= 12:
                write_compact_string(writer, self.topic)
            else:
                write_string(writer, self.topic)
        if version >= 13:
            write_uuid(writer, self.topic_id)
        if version >= 12:
            write_uvarint(writer, len(self.partitions) + 1)
        else:
            write_i32_be(writer, len(self.partitions))
        for partitions_item in self.partitions:
            partitions_item.write(writer, version)
        if version >= 12:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> FetchableTopicResponse:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic: str = ""
        if version <= 12:
            topic = reader.read_compact_string() if version >= 12 else reader.read_string()
        topic_id: bytes = ZERO_UUID
        if version >= 13:
            topic_id = reader.read_uuid()
        partitions: list[PartitionData] = [PartitionData.read(reader, version) for _ in range(reader.read_compact_array_length(16, 530))] if version >= 12 else [PartitionData.read(reader, version) for _ in range(reader.read_array_length(18, 530))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            unknown = reader.read_unknown_tagged_fields()
        message = FetchableTopicResponse(topic, topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class NodeEndpoint(Message):
    NAME: ClassVar[str] = "NodeEndpoint"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("node_id", "NodeId", "int32", versions=(16, 32767)),
        Field("host", "Host", "string", versions=(16, 32767), default=""),
        Field("port", "Port", "int32", versions=(16, 32767)),
        Field("rack", "Rack", "string", versions=(16, 32767), nullable=(16, 32767), default=None),
    )

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.node_id)
        write_compact_string(writer, self.host)
        write_i32_be(writer, self.port)
        write_compact_nullable_string(writer, self.rack)
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
        port: int = reader.read_int32()
        rack: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = NodeEndpoint(node_id, host, port, rack)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class FetchResponse(Message):
    NAME: ClassVar[str] = "FetchResponse"
    API_KEY: ClassVar[int] = 1
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 18
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 12
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", versions=(1, 32767), ignorable=True),
        Field("error_code", "ErrorCode", "int16", versions=(7, 32767), ignorable=True),
        Field("session_id", "SessionId", "int32", versions=(7, 32767)),
        Field("responses", "Responses", "[]FetchableTopicResponse", default=(), struct=FetchableTopicResponse),
        Field("node_endpoints", "NodeEndpoints", "[]NodeEndpoint", versions=(16, 32767), tagged=(16, 32767), tag=0, default=(), struct=NodeEndpoint),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.session_id: int = session_id
        self.responses: list[FetchableTopicResponse] = [] if responses is EMPTY else responses
        self.node_endpoints: list[NodeEndpoint] = [] if node_endpoints is EMPTY else node_endpoints
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 18:
            raise cannot_write("FetchResponse", version)
        if version >= 1:
            write_i32_be(writer, self.throttle_time_ms)
        if version >= 7:
            write_i16_be(writer, self.error_code)
        if version >= 7:
            write_i32_be(writer, self.session_id)
        elif self.session_id != 0:
            raise missing_field("SessionId", version)
        if version >= 12:
            write_uvarint(writer, len(self.responses) + 1)
        else:
            write_i32_be(writer, len(self.responses))
        for responses_item in self.responses:
            responses_item.write(writer, version)
        if version < 16 and self.node_endpoints:
            raise missing_field("NodeEndpoints", version)
        if version >= 12:
            if self.unknown_tagged_fields is None and not self.node_endpoints:
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if version >= 16 and self.node_endpoints:
                    at = begin_tag(writer, 0)
                    write_uvarint(writer, len(self.node_endpoints) + 1)
                    for node_endpoints_item in self.node_endpoints:
                        node_endpoints_item.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> FetchResponse:
        if version < 0 or version > 18:
            raise cannot_read("FetchResponse", version)
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = reader.read_int32()
        error_code: int = 0
        if version >= 7:
            error_code = reader.read_int16()
        session_id: int = 0
        if version >= 7:
            session_id = reader.read_int32()
        responses: list[FetchableTopicResponse] = [FetchableTopicResponse.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))] if version >= 12 else [FetchableTopicResponse.read(reader, version) for _ in range(reader.read_array_length(6, 202))]
        node_endpoints: list[NodeEndpoint] = []
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    if version < 16:
                        raise invalid_tag("FetchResponse", tag, version)
                    node_endpoints = [NodeEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(11, 82))]
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FetchResponse:
        reader = Reader(data)
        message = FetchResponse.read(reader, version)
        reader.expect_end()
        return message
