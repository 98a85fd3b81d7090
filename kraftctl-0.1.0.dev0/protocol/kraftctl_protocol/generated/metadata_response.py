"""@generated from schemas/message/MetadataResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field, null_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class MetadataResponseBroker(Message):
    NAME: ClassVar[str] = "MetadataResponseBroker"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("node_id", "NodeId", "int32"),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "int32"),
        Field("rack", "Rack", "string", versions=(1, 32767), nullable=(1, 32767), default=None, ignorable=True),
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
        if version >= 9:
            write_compact_string(writer, self.host)
        else:
            write_string(writer, self.host)
        write_i32_be(writer, self.port)
        if version >= 1:
            if version >= 9:
                write_compact_nullable_string(writer, self.rack)
            else:
                write_nullable_string(writer, self.rack)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataResponseBroker:
        if reader.position >= reader.pause_at:
            reader.pause()
        node_id: int = reader.read_int32()
        host: str = reader.read_compact_string() if version >= 9 else reader.read_string()
        port: int = reader.read_int32()
        rack: str | None = None
        if version >= 1:
            rack = reader.read_compact_nullable_string() if version >= 9 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataResponseBroker(node_id, host, port, rack)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class MetadataResponsePartition(Message):
    NAME: ClassVar[str] = "MetadataResponsePartition"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("partition_index", "PartitionIndex", "int32"),
        Field("leader_id", "LeaderId", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32", versions=(7, 32767), default=-1, ignorable=True),
        Field("replica_nodes", "ReplicaNodes", "[]int32", default=()),
        Field("isr_nodes", "IsrNodes", "[]int32", default=()),
        Field("offline_replicas", "OfflineReplicas", "[]int32", versions=(5, 32767), default=(), ignorable=True),
    )

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is EMPTY else isr_nodes
        self.offline_replicas: list[int] = [] if offline_replicas is EMPTY else offline_replicas
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        write_i32_be(writer, self.partition_index)
        write_i32_be(writer, self.leader_id)
        if version >= 7:
            write_i32_be(writer, self.leader_epoch)
        if version >= 9:
            write_uvarint(writer, len(self.replica_nodes) + 1)
        else:
            write_i32_be(writer, len(self.replica_nodes))
        for replica_nodes_item in self.replica_nodes:
            write_i32_be(writer, replica_nodes_item)
        if version >= 9:
            write_uvarint(writer, len(self.isr_nodes) + 1)
        else:
            write_i32_be(writer, len(self.isr_nodes))
        for isr_nodes_item in self.isr_nodes:
            write_i32_be(writer, isr_nodes_item)
        if version >= 5:
            if version >= 9:
                write_uvarint(writer, len(self.offline_replicas) + 1)
            else:
                write_i32_be(writer, len(self.offline_replicas))
            for offline_replicas_item in self.offline_replicas:
                write_i32_be(writer, offline_replicas_item)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataResponsePartition:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(10)
        buffer = reader.buffer
        error_code: int = read_i16_be(buffer, at)
        partition_index: int = read_i32_be(buffer, at + 2)
        leader_id: int = read_i32_be(buffer, at + 6)
        leader_epoch: int = -1
        if version >= 7:
            leader_epoch = reader.read_int32()
        replica_nodes: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 9 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        isr_nodes: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 9 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        offline_replicas: list[int] = []
        if version >= 5:
            offline_replicas = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 9 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataResponsePartition(error_code, partition_index, leader_id, leader_epoch, replica_nodes, isr_nodes, offline_replicas)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class MetadataResponseTopic(Message):
    NAME: ClassVar[str] = "MetadataResponseTopic"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("name", "Name", "string", nullable=(12, 32767), default=""),
        Field("topic_id", "TopicId", "uuid", versions=(10, 32767), default=ZERO_UUID, ignorable=True),
        Field("is_internal", "IsInternal", "bool", versions=(1, 32767), default=False, ignorable=True),
        Field("partitions", "Partitions", "[]MetadataResponsePartition", default=(), struct=MetadataResponsePartition),
        Field("topic_authorized_operations", "TopicAuthorizedOperations", "int32", versions=(8, 32767), default=-2147483648),
    )

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.is_internal: bool = is_internal
        self.partitions: list[MetadataResponsePartition] = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations: int = topic_authorized_operations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        if self.name is None and version < 12:
            raise null_field("Name", version)
        if version >= 9:
            write_compact_nullable_string(writer, self.name)
        else:
            write_nullable_string(writer, self.name)
        if version >= 10:
            write_uuid(writer, self.topic_id)
        if version >= 1:
            writer.append(1 if self.is_internal else 0)
        if version >= 9:
            write_uvarint(writer, len(self.partitions) + 1)
        else:
            write_i32_be(writer, len(self.partitions))
        for partitions_item in self.partitions:
            partitions_item.write(writer, version)
        if version >= 8:
            write_i32_be(writer, self.topic_authorized_operations)
        elif self.topic_authorized_operations != -2147483648:
            raise missing_field("TopicAuthorizedOperations", version)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataResponseTopic:
        if reader.position >= reader.pause_at:
            reader.pause()
        error_code: int = reader.read_int16()
        name: str | None = reader.read_compact_nullable_string() if version >= 12 else (reader.read_compact_string() if version >= 9 else reader.read_string())
        topic_id: bytes = ZERO_UUID
        if version >= 10:
            topic_id = reader.read_uuid()
        is_internal: bool = False
        if version >= 1:
            is_internal = reader.read_bool()
        partitions: list[MetadataResponsePartition] = [MetadataResponsePartition.read(reader, version) for _ in range(reader.read_compact_array_length(13, 298))] if version >= 9 else [MetadataResponsePartition.read(reader, version) for _ in range(reader.read_array_length(18, 298))]
        topic_authorized_operations: int = -2147483648
        if version >= 8:
            topic_authorized_operations = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataResponseTopic(error_code, name, topic_id, is_internal, partitions, topic_authorized_operations)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class MetadataResponse(Message):
    NAME: ClassVar[str] = "MetadataResponse"
    API_KEY: ClassVar[int] = 3
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 13
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", versions=(3, 32767), ignorable=True),
        Field("brokers", "Brokers", "[]MetadataResponseBroker", default=(), struct=MetadataResponseBroker),
        Field("cluster_id", "ClusterId", "string", versions=(2, 32767), nullable=(2, 32767), default=None, ignorable=True),
        Field("controller_id", "ControllerId", "int32", versions=(1, 32767), default=-1, ignorable=True),
        Field("topics", "Topics", "[]MetadataResponseTopic", default=(), struct=MetadataResponseTopic),
        Field("cluster_authorized_operations", "ClusterAuthorizedOperations", "int32", versions=(8, 10), default=-2147483648),
        Field("error_code", "ErrorCode", "int16", versions=(13, 32767), ignorable=True),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = EMPTY,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.brokers: list[MetadataResponseBroker] = [] if brokers is EMPTY else brokers
        self.cluster_id: str | None = cluster_id
        self.controller_id: int = controller_id
        self.topics: list[MetadataResponseTopic] = [] if topics is EMPTY else topics
        self.cluster_authorized_operations: int = cluster_authorized_operations
        self.error_code: int = error_code
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 13:
            raise cannot_write("MetadataResponse", version)
        if version >= 3:
            write_i32_be(writer, self.throttle_time_ms)
        if version >= 9:
            write_uvarint(writer, len(self.brokers) + 1)
        else:
            write_i32_be(writer, len(self.brokers))
        for brokers_item in self.brokers:
            brokers_item.write(writer, version)
        if version >= 2:
            if version >= 9:
                write_compact_nullable_string(writer, self.cluster_id)
            else:
                write_nullable_string(writer, self.cluster_id)
        if version >= 1:
            write_i32_be(writer, self.controller_id)
        if version >= 9:
            write_uvarint(writer, len(self.topics) + 1)
        else:
            write_i32_be(writer, len(self.topics))
        for topics_item in self.topics:
            topics_item.write(writer, version)
        if version >= 8 and version <= 10:
            write_i32_be(writer, self.cluster_authorized_operations)
        elif self.cluster_authorized_operations != -2147483648:
            raise missing_field("ClusterAuthorizedOperations", version)
        if version >= 13:
            write_i16_be(writer, self.error_code)
        if version >= 9:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> MetadataResponse:
        if version < 0 or version > 13:
            raise cannot_read("MetadataResponse", version)
        throttle_time_ms: int = 0
        if version >= 3:
            throttle_time_ms = reader.read_int32()
        brokers: list[MetadataResponseBroker] = [MetadataResponseBroker.read(reader, version) for _ in range(reader.read_compact_array_length(10, 82))] if version >= 9 else [MetadataResponseBroker.read(reader, version) for _ in range(reader.read_array_length(10, 82))]
        cluster_id: str | None = None
        if version >= 2:
            cluster_id = reader.read_compact_nullable_string() if version >= 9 else reader.read_nullable_string()
        controller_id: int = -1
        if version >= 1:
            controller_id = reader.read_int32()
        topics: list[MetadataResponseTopic] = [MetadataResponseTopic.read(reader, version) for _ in range(reader.read_compact_array_length(5, 226))] if version >= 9 else [MetadataResponseTopic.read(reader, version) for _ in range(reader.read_array_length(8, 226))]
        cluster_authorized_operations: int = -2147483648
        if version >= 8 and version <= 10:
            cluster_authorized_operations = reader.read_int32()
        error_code: int = 0
        if version >= 13:
            error_code = reader.read_int16()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 9:
            unknown = reader.read_unknown_tagged_fields()
        message = MetadataResponse(throttle_time_ms, brokers, cluster_id, controller_id, topics, cluster_authorized_operations, error_code)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> MetadataResponse:
        reader = Reader(data)
        message = MetadataResponse.read(reader, version)
        reader.expect_end()
        return message
