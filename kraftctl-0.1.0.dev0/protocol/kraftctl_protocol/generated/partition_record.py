"""@generated from schemas/metadata/PartitionRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_int8,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class PartitionRecord(Message):
    NAME: ClassVar[str] = "PartitionRecord"
    API_KEY: ClassVar[int] = 3
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_id", "PartitionId", "int32", default=-1),
        Field("topic_id", "TopicId", "uuid", default=ZERO_UUID),
        Field("replicas", "Replicas", "[]int32", default=()),
        Field("isr", "Isr", "[]int32", default=()),
        Field("removing_replicas", "RemovingReplicas", "[]int32", default=()),
        Field("adding_replicas", "AddingReplicas", "[]int32", default=()),
        Field("leader", "Leader", "int32", default=-1),
        Field("leader_recovery_state", "LeaderRecoveryState", "int8", tagged=(0, 32767), tag=0),
        Field("leader_epoch", "LeaderEpoch", "int32", default=-1),
        Field("partition_epoch", "PartitionEpoch", "int32", default=-1),
        Field("directories", "Directories", "[]uuid", versions=(1, 32767), default=()),
        Field("eligible_leader_replicas", "EligibleLeaderReplicas", "[]int32", versions=(2, 32767), nullable=(2, 32767), tagged=(2, 32767), tag=1, default=None),
        Field("last_known_elr", "LastKnownElr", "[]int32", versions=(2, 32767), nullable=(2, 32767), tagged=(2, 32767), tag=2, default=None),
    )

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = EMPTY,
        isr: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
    ) -> None:
        self.partition_id: int = partition_id
        self.topic_id: bytes = topic_id
        self.replicas: list[int] = [] if replicas is EMPTY else replicas
        self.isr: list[int] = [] if isr is EMPTY else isr
        self.removing_replicas: list[int] = [] if removing_replicas is EMPTY else removing_replicas
        self.adding_replicas: list[int] = [] if adding_replicas is EMPTY else adding_replicas
        self.leader: int = leader
        self.leader_recovery_state: int = leader_recovery_state
        self.leader_epoch: int = leader_epoch
        self.partition_epoch: int = partition_epoch
        self.directories: list[bytes] = [] if directories is EMPTY else directories
        self.eligible_leader_replicas: list[int] | None = eligible_leader_replicas
        self.last_known_elr: list[int] | None = last_known_elr
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("PartitionRecord", version)
        write_i32_be(writer, self.partition_id)
        write_uuid(writer, self.topic_id)
        write_uvarint(writer, len(self.replicas) + 1)
        for replicas_item in self.replicas:
            write_i32_be(writer, replicas_item)
        write_uvarint(writer, len(self.isr) + 1)
        for isr_item in self.isr:
            write_i32_be(writer, isr_item)
        write_uvarint(writer, len(self.removing_replicas) + 1)
        for removing_replicas_item in self.removing_replicas:
            write_i32_be(writer, removing_replicas_item)
        write_uvarint(writer, len(self.adding_replicas) + 1)
        for adding_replicas_item in self.adding_replicas:
            write_i32_be(writer, adding_replicas_item)
        write_i32_be(writer, self.leader)
        write_i32_be(writer, self.leader_epoch)
        write_i32_be(writer, self.partition_epoch)
        if version >= 1:
            write_uvarint(writer, len(self.directories) + 1)
            for directories_item in self.directories:
                write_uuid(writer, directories_item)
        elif self.directories:
            raise missing_field("Directories", version)
        if version < 2 and self.eligible_leader_replicas is not None:
            raise missing_field("EligibleLeaderReplicas", version)
        if version < 2 and self.last_known_elr is not None:
            raise missing_field("LastKnownElr", version)
        if self.unknown_tagged_fields is None and self.leader_recovery_state == 0 and self.eligible_leader_replicas is None and self.last_known_elr is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.leader_recovery_state != 0:
                at = begin_tag(writer, 0)
                write_int8(writer, self.leader_recovery_state)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.eligible_leader_replicas is not None:
                at = begin_tag(writer, 1)
                write_uvarint(writer, len(self.eligible_leader_replicas) + 1)
                for eligible_leader_replicas_item in self.eligible_leader_replicas:
                    write_i32_be(writer, eligible_leader_replicas_item)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.last_known_elr is not None:
                at = begin_tag(writer, 2)
                write_uvarint(writer, len(self.last_known_elr) + 1)
                for last_known_elr_item in self.last_known_elr:
                    write_i32_be(writer, last_known_elr_item)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionRecord:
        if version < 0 or version > 2:
            raise cannot_read("PartitionRecord", version)
        at = reader.take(20)
        buffer = reader.buffer
        partition_id: int = read_i32_be(buffer, at)
        topic_id: bytes = buffer[at + 4 : at + 20]
        replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        isr: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        removing_replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        adding_replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))]
        leader: int = reader.read_int32()
        leader_recovery_state: int = 0
        at = reader.take(8)
        buffer = reader.buffer
        leader_epoch: int = read_i32_be(buffer, at)
        partition_epoch: int = read_i32_be(buffer, at + 4)
        directories: list[bytes] = []
        if version >= 1:
            directories = [reader.read_uuid() for _ in range(reader.read_compact_array_length(16, 74))]
        eligible_leader_replicas: list[int] | None = None
        last_known_elr: list[int] | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                leader_recovery_state = reader.read_int8()
            elif tag == 1:
                if version < 2:
                    raise invalid_tag("PartitionRecord", tag, version)
                eligible_leader_replicas = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 2:
                if version < 2:
                    raise invalid_tag("PartitionRecord", tag, version)
                last_known_elr = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = PartitionRecord(partition_id, topic_id, replicas, isr, removing_replicas, adding_replicas, leader, leader_recovery_state, leader_epoch, partition_epoch, directories, eligible_leader_replicas, last_known_elr)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> PartitionRecord:
        reader = Reader(data)
        message = PartitionRecord.read(reader, version)
        reader.expect_end()
        return message
