"""@generated from schemas/metadata/PartitionChangeRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_int8,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class PartitionChangeRecord(Message):
    NAME: ClassVar[str] = "PartitionChangeRecord"
    API_KEY: ClassVar[int] = 5
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_id", "PartitionId", "int32", default=-1),
        Field("topic_id", "TopicId", "uuid", default=ZERO_UUID),
        Field("isr", "Isr", "[]int32", nullable=(0, 32767), tagged=(0, 32767), tag=0, default=None),
        Field("leader", "Leader", "int32", tagged=(0, 32767), tag=1, default=-2),
        Field("replicas", "Replicas", "[]int32", nullable=(0, 32767), tagged=(0, 32767), tag=2, default=None),
        Field("removing_replicas", "RemovingReplicas", "[]int32", nullable=(0, 32767), tagged=(0, 32767), tag=3, default=None),
        Field("adding_replicas", "AddingReplicas", "[]int32", nullable=(0, 32767), tagged=(0, 32767), tag=4, default=None),
        Field("leader_recovery_state", "LeaderRecoveryState", "int8", tagged=(0, 32767), tag=5, default=-1),
        Field("directories", "Directories", "[]uuid", versions=(1, 32767), nullable=(1, 32767), tagged=(1, 32767), tag=8, default=None),
        Field("eligible_leader_replicas", "EligibleLeaderReplicas", "[]int32", versions=(2, 32767), nullable=(2, 32767), tagged=(2, 32767), tag=6, default=None),
        Field("last_known_elr", "LastKnownElr", "[]int32", versions=(2, 32767), nullable=(2, 32767), tagged=(2, 32767), tag=7, default=None),
    )

    def __init__(
        self,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
    ) -> None:
        self.partition_id: int = partition_id
        self.topic_id: bytes = topic_id
        self.isr: list[int] | None = isr
        self.leader: int = leader
        self.replicas: list[int] | None = replicas
        self.removing_replicas: list[int] | None = removing_replicas
        self.adding_replicas: list[int] | None = adding_replicas
        self.leader_recovery_state: int = leader_recovery_state
        self.directories: list[bytes] | None = directories
        self.eligible_leader_replicas: list[int] | None = eligible_leader_replicas
        self.last_known_elr: list[int] | None = last_known_elr
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("PartitionChangeRecord", version)
        write_i32_be(writer, self.partition_id)
        write_uuid(writer, self.topic_id)
        if version < 1 and self.directories is not None:
            raise missing_field("Directories", version)
        if version < 2 and self.eligible_leader_replicas is not None:
            raise missing_field("EligibleLeaderReplicas", version)
        if version < 2 and self.last_known_elr is not None:
            raise missing_field("LastKnownElr", version)
        if self.unknown_tagged_fields is None and self.isr is None and self.leader == -2 and self.replicas is None and self.removing_replicas is None and self.adding_replicas is None and self.leader_recovery_state == -1 and self.eligible_leader_replicas is None and self.last_known_elr is None and self.directories is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.isr is not None:
                at = begin_tag(writer, 0)
                write_uvarint(writer, len(self.isr) + 1)
                for isr_item in self.isr:
                    write_i32_be(writer, isr_item)
                end_tag(writer, at)
                count += 1
            if self.leader != -2:
                at = begin_tag(writer, 1)
                write_i32_be(writer, self.leader)
                end_tag(writer, at)
                count += 1
            if self.replicas is not None:
                at = begin_tag(writer, 2)
                write_uvarint(writer, len(self.replicas) + 1)
                for replicas_item in self.replicas:
                    write_i32_be(writer, replicas_item)
                end_tag(writer, at)
                count += 1
            if self.removing_replicas is not None:
                at = begin_tag(writer, 3)
                write_uvarint(writer, len(self.removing_replicas) + 1)
                for removing_replicas_item in self.removing_replicas:
                    write_i32_be(writer, removing_replicas_item)
                end_tag(writer, at)
                count += 1
            if self.adding_replicas is not None:
                at = begin_tag(writer, 4)
                write_uvarint(writer, len(self.adding_replicas) + 1)
                for adding_replicas_item in self.adding_replicas:
                    write_i32_be(writer, adding_replicas_item)
                end_tag(writer, at)
                count += 1
            if self.leader_recovery_state != -1:
                at = begin_tag(writer, 5)
                write_int8(writer, self.leader_recovery_state)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.eligible_leader_replicas is not None:
                at = begin_tag(writer, 6)
                write_uvarint(writer, len(self.eligible_leader_replicas) + 1)
                for eligible_leader_replicas_item in self.eligible_leader_replicas:
                    write_i32_be(writer, eligible_leader_replicas_item)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.last_known_elr is not None:
                at = begin_tag(writer, 7)
                write_uvarint(writer, len(self.last_known_elr) + 1)
                for last_known_elr_item in self.last_known_elr:
                    write_i32_be(writer, last_known_elr_item)
                end_tag(writer, at)
                count += 1
            if version >= 1 and self.directories is not None:
                at = begin_tag(writer, 8)
                write_uvarint(writer, len(self.directories) + 1)
                for directories_item in self.directories:
                    write_uuid(writer, directories_item)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionChangeRecord:
        if version < 0 or version > 2:
            raise cannot_read("PartitionChangeRecord", version)
        at = reader.take(20)
        buffer = reader.buffer
        partition_id: int = read_i32_be(buffer, at)
        topic_id: bytes = buffer[at + 4 : at + 20]
        isr: list[int] | None = None
        leader: int = -2
        replicas: list[int] | None = None
        removing_replicas: list[int] | None = None
        adding_replicas: list[int] | None = None
        leader_recovery_state: int = -1
        directories: list[bytes] | None = None
        eligible_leader_replicas: list[int] | None = None
        last_known_elr: list[int] | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                isr = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 1:
                leader = reader.read_int32()
            elif tag == 2:
                replicas = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 3:
                removing_replicas = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 4:
                adding_replicas = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 5:
                leader_recovery_state = reader.read_int8()
            elif tag == 8:
                if version < 1:
                    raise invalid_tag("PartitionChangeRecord", tag, version)
                directories = None if (length := reader.read_compact_nullable_array_length(16, 74)) < 0 else [reader.read_uuid() for _ in range(length)]
            elif tag == 6:
                if version < 2:
                    raise invalid_tag("PartitionChangeRecord", tag, version)
                eligible_leader_replicas = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            elif tag == 7:
                if version < 2:
                    raise invalid_tag("PartitionChangeRecord", tag, version)
                last_known_elr = None if (length := reader.read_compact_nullable_array_length(4, 42)) < 0 else [reader.read_int32() for _ in range(length)]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = PartitionChangeRecord(partition_id, topic_id, isr, leader, replicas, removing_replicas, adding_replicas, leader_recovery_state, directories, eligible_leader_replicas, last_known_elr)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> PartitionChangeRecord:
        reader = Reader(data)
        message = PartitionChangeRecord.read(reader, version)
        reader.expect_end()
        return message
