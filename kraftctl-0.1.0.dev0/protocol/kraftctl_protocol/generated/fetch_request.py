"""@generated from schemas/message/FetchRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_int8,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class ReplicaState(Message):
    NAME: ClassVar[str] = "ReplicaState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("replica_id", "ReplicaId", "int32", versions=(15, 32767), default=-1),
        Field("replica_epoch", "ReplicaEpoch", "int64", versions=(15, 32767), default=-1),
    )

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_epoch: int = replica_epoch
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.replica_id == -1
            and self.replica_epoch == -1
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.replica_id)
        write_i64_be(writer, self.replica_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReplicaState:
        at = reader.take(12)
        buffer = reader.buffer
        replica_id: int = read_i32_be(buffer, at)
        replica_epoch: int = read_i64_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = ReplicaState(replica_id, replica_epoch)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class FetchPartition(Message):
    NAME: ClassVar[str] = "FetchPartition"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition", "Partition", "int32"),
        Field("current_leader_epoch", "CurrentLeaderEpoch", "int32", versions=(9, 32767), default=-1, ignorable=True),
        Field("fetch_offset", "FetchOffset", "int64"),
        Field("last_fetched_epoch", "LastFetchedEpoch", "int32", versions=(12, 32767), default=-1),
        Field("log_start_offset", "LogStartOffset", "int64", versions=(5, 32767), default=-1, ignorable=True),
        Field("partition_max_bytes", "PartitionMaxBytes", "int32"),
        Field("replica_directory_id", "ReplicaDirectoryId", "uuid", versions=(17, 32767), tagged=(17, 32767), tag=0, default=ZERO_UUID, ignorable=True),
        Field("high_watermark", "HighWatermark", "int64", versions=(18, 32767), tagged=(18, 32767), tag=1, default=9223372036854775807, ignorable=True),
    )

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.fetch_offset: int = fetch_offset
        self.last_fetched_epoch: int = last_fetched_epoch
        self.log_start_offset: int = log_start_offset
        self.partition_max_bytes: int = partition_max_bytes
        self.replica_directory_id: bytes = replica_directory_id
        self.high_watermark: int = high_watermark
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition)
        if version >= 9:
            write_i32_be(writer, self.current_leader_epoch)
        write_i64_be(writer, self.fetch_offset)
        if version >= 12:
            write_i32_be(writer, self.last_fetched_epoch)
        elif self.last_fetched_epoch != -1:
            raise missing_field("LastFetchedEpoch", version)
        if version >= 5:
            write_i64_be(writer, self.log_start_offset)
        write_i32_be(writer, self.partition_max_bytes)
        if version >= 12:
            if self.unknown_tagged_fields is None and self.replica_directory_id == ZERO_UUID and self.high_watermark == 9223372036854775807:
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if version >= 17 and self.replica_directory_id != ZERO_UUID:
                    at = begin_tag(writer, 0)
                    write_uuid(writer, self.replica_directory_id)
                    end_tag(writer, at)
                    count += 1
                if version >= 18 and self.high_watermark != 9223372036854775807:
                    at = begin_tag(writer, 1)
                    write_i64_be(writer, self.high_watermark)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> FetchPartition:
        if reader.position >= reader.pause_at:
            reader.pause()
        partition: int = reader.read_int32()
        current_leader_epoch: int = -1
        if version >= 9:
            current_leader_epoch = reader.read_int32()
        fetch_offset: int = reader.read_int64()
        last_fetched_epoch: int = -1
        if version >= 12:
            last_fetched_epoch = reader.read_int32()
        log_start_offset: int = -1
        if version >= 5:
            log_start_offset = reader.read_int64()
        partition_max_bytes: int = reader.read_int32()
        replica_directory_id: bytes = ZERO_UUID
        high_watermark: int = 9223372036854775807
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    if version < 17:
                        raise invalid_tag("FetchPartition", tag, version)
                    replica_directory_id = reader.read_uuid()
                elif tag == 1:
                    if version < 18:
                        raise invalid_tag("FetchPartition", tag, version)
                    high_watermark = reader.read_int64()
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, replica_directory_id, high_watermark)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class FetchTopic(Message):
    NAME: ClassVar[str] = "FetchTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic", "Topic", "string", versions=(0, 12), default="", ignorable=True),
        Field("topic_id", "TopicId", "uuid", versions=(13, 32767), default=ZERO_UUID, ignorable=True),
        Field("partitions", "Partitions", "[]FetchPartition", default=(), struct=FetchPartition),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[FetchPartition] = [] if partitions is EMPTY else partitions
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
    def read(reader: Reader, version: i64) -> FetchTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic: str = ""
        if version <= 12:
            topic = reader.read_compact_string() if version >= 12 else reader.read_string()
        topic_id: bytes = ZERO_UUID
        if version >= 13:
            topic_id = reader.read_uuid()
        partitions: list[FetchPartition] = [FetchPartition.read(reader, version) for _ in range(reader.read_compact_array_length(17, 274))] if version >= 12 else [FetchPartition.read(reader, version) for _ in range(reader.read_array_length(16, 274))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            unknown = reader.read_unknown_tagged_fields()
        message = FetchTopic(topic, topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ForgottenTopic(Message):
    NAME: ClassVar[str] = "ForgottenTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic", "Topic", "string", versions=(7, 12), default="", ignorable=True),
        Field("topic_id", "TopicId", "uuid", versions=(13, 32767), default=ZERO_UUID, ignorable=True),
        Field("partitions", "Partitions", "[]int32", versions=(7, 32767), default=()),
    )

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is EMPTY else partitions
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
            write_i32_be(writer, partitions_item)
        if version >= 12:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ForgottenTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic: str = ""
        if version <= 12:
            topic = reader.read_compact_string() if version >= 12 else reader.read_string()
        topic_id: bytes = ZERO_UUID
        if version >= 13:
            topic_id = reader.read_uuid()
        partitions: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 12 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            unknown = reader.read_unknown_tagged_fields()
        message = ForgottenTopic(topic, topic_id, partitions)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class FetchRequest(Message):
    NAME: ClassVar[str] = "FetchRequest"
    API_KEY: ClassVar[int] = 1
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 18
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 12
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", versions=(12, 32767), nullable=(12, 32767), tagged=(12, 32767), tag=0, default=None, ignorable=True),
        Field("replica_id", "ReplicaId", "int32", versions=(0, 14), default=-1),
        Field("replica_state", "ReplicaState", "ReplicaState", versions=(15, 32767), tagged=(15, 32767), tag=1, default=(), struct=ReplicaState),
        Field("max_wait_ms", "MaxWaitMs", "int32"),
        Field("min_bytes", "MinBytes", "int32"),
        Field("max_bytes", "MaxBytes", "int32", versions=(3, 32767), default=2147483647, ignorable=True),
        Field("isolation_level", "IsolationLevel", "int8", versions=(4, 32767), ignorable=True),
        Field("session_id", "SessionId", "int32", versions=(7, 32767), ignorable=True),
        Field("session_epoch", "SessionEpoch", "int32", versions=(7, 32767), default=-1, ignorable=True),
        Field("topics", "Topics", "[]FetchTopic", default=(), struct=FetchTopic),
        Field("forgotten_topics_data", "ForgottenTopicsData", "[]ForgottenTopic", versions=(7, 32767), default=(), struct=ForgottenTopic),
        Field("rack_id", "RackId", "string", versions=(11, 32767), default="", ignorable=True),
    )

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
        rack_id: str = "",
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.replica_id: int = replica_id
        self.replica_state: ReplicaState = ReplicaState() if replica_state is None else replica_state
        self.max_wait_ms: int = max_wait_ms
        self.min_bytes: int = min_bytes
        self.max_bytes: int = max_bytes
        self.isolation_level: int = isolation_level
        self.session_id: int = session_id
        self.session_epoch: int = session_epoch
        self.topics: list[FetchTopic] = [] if topics is EMPTY else topics
        self.forgotten_topics_data: list[ForgottenTopic] = [] if forgotten_topics_data is EMPTY else forgotten_topics_data
        self.rack_id: str = rack_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 18:
            raise cannot_write("FetchRequest", version)
        if version <= 14:
            write_i32_be(writer, self.replica_id)
        elif self.replica_id != -1:
            raise missing_field("ReplicaId", version)
        if version < 15 and not self.replica_state.is_default():
            raise missing_field("ReplicaState", version)
        write_i32_be(writer, self.max_wait_ms)
        write_i32_be(writer, self.min_bytes)
        if version >= 3:
            write_i32_be(writer, self.max_bytes)
        if version >= 4:
            write_int8(writer, self.isolation_level)
        if version >= 7:
            write_i32_be(writer, self.session_id)
        if version >= 7:
            write_i32_be(writer, self.session_epoch)
        if version >= 12:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version >= 7:
            if version >= 12:
                write_uvarint(writer, len(self.forgotten_topics_data) + 1)
            else:
                write_i32_be(writer, len(self.forgotten_topics_data))
            for forgotten_topics_data_item in self.forgotten_topics_data:
                forgotten_topics_data_item.write(writer, version)
        elif self.forgotten_topics_data:
            raise missing_field("ForgottenTopicsData", version)
        if version >= 11:
            if version >= 12:
                write_compact_string(writer, self.rack_id)
            else:
                write_string(writer, self.rack_id)
        if version >= 12:
            if self.unknown_tagged_fields is None and self.cluster_id is None and self.replica_state.is_default():
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if self.cluster_id is not None:
                    at = begin_tag(writer, 0)
                    write_compact_string(writer, self.cluster_id)
                    end_tag(writer, at)
                    count += 1
                if version >= 15 and not self.replica_state.is_default():
                    at = begin_tag(writer, 1)
                    self.replica_state.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> FetchRequest:
        if version < 0 or version > 18:
            raise cannot_read("FetchRequest", version)
        cluster_id: str | None = None
        replica_id: int = -1
        if version <= 14:
            replica_id = reader.read_int32()
        replica_state: ReplicaState = ReplicaState()
        at = reader.take(8)
        buffer = reader.buffer
        max_wait_ms: int = read_i32_be(buffer, at)
        min_bytes: int = read_i32_be(buffer, at + 4)
        max_bytes: int = 2147483647
        if version >= 3:
            max_bytes = reader.read_int32()
        isolation_level: int = 0
        if version >= 4:
            isolation_level = reader.read_int8()
        session_id: int = 0
        if version >= 7:
            session_id = reader.read_int32()
        session_epoch: int = -1
        if version >= 7:
            session_epoch = reader.read_int32()
        topics: list[FetchTopic] = [FetchTopic.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))] if version >= 12 else [FetchTopic.read(reader, version) for _ in range(reader.read_array_length(6, 202))]
        forgotten_topics_data: list[ForgottenTopic] = []
        if version >= 7:
            forgotten_topics_data = [ForgottenTopic.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))] if version >= 12 else [ForgottenTopic.read(reader, version) for _ in range(reader.read_array_length(6, 202))]
        rack_id: str = ""
        if version >= 11:
            rack_id = reader.read_compact_string() if version >= 12 else reader.read_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 12:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    cluster_id = reader.read_compact_nullable_string()
                elif tag == 1:
                    if version < 15:
                        raise invalid_tag("FetchRequest", tag, version)
                    replica_state = ReplicaState.read(reader, version)
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = FetchRequest(cluster_id, replica_id, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FetchRequest:
        reader = Reader(data)
        message = FetchRequest.read(reader, version)
        reader.expect_end()
        return message
