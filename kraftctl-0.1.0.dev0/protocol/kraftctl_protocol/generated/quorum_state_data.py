"""@generated from schemas/message/QuorumStateData.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class Voter(Message):
    NAME: ClassVar[str] = "Voter"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("voter_id", "VoterId", "int32", versions=(0, 0)),
    )

    def __init__(
        self,
        voter_id: int = 0,
    ) -> None:
        self.voter_id: int = voter_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.voter_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> Voter:
        if reader.position >= reader.pause_at:
            reader.pause()
        voter_id: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = Voter(voter_id)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class QuorumStateData(Message):
    NAME: ClassVar[str] = "QuorumStateData"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", versions=(0, 0), default=""),
        Field("leader_id", "LeaderId", "int32", default=-1),
        Field("leader_epoch", "LeaderEpoch", "int32", default=-1),
        Field("voted_id", "VotedId", "int32", default=-1),
        Field("voted_directory_id", "VotedDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID),
        Field("applied_offset", "AppliedOffset", "int64", versions=(0, 0)),
        Field("current_voters", "CurrentVoters", "[]Voter", versions=(0, 0), nullable=(0, 0), default=(), struct=Voter),
    )

    def __init__(
        self,
        cluster_id: str = "",
        leader_id: int = -1,
        leader_epoch: int = -1,
        voted_id: int = -1,
        voted_directory_id: bytes = ZERO_UUID,
        applied_offset: int = 0,
        current_voters: list[Voter] | None = EMPTY,
    ) -> None:
        self.cluster_id: str = cluster_id
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.voted_id: int = voted_id
        self.voted_directory_id: bytes = voted_directory_id
        self.applied_offset: int = applied_offset
        self.current_voters: list[Voter] | None = [] if current_voters is EMPTY else current_voters
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("QuorumStateData", version)
        if version <= 0:
            write_compact_string(writer, self.cluster_id)
        elif self.cluster_id != "":
            raise missing_field("ClusterId", version)
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        write_i32_be(writer, self.voted_id)
        if version >= 1:
            write_uuid(writer, self.voted_directory_id)
        elif self.voted_directory_id != ZERO_UUID:
            raise missing_field("VotedDirectoryId", version)
        if version <= 0:
            write_i64_be(writer, self.applied_offset)
        elif self.applied_offset != 0:
            raise missing_field("AppliedOffset", version)
        if version <= 0:
            if self.current_voters is None:
                writer.append(0)
            else:
                write_uvarint(writer, len(self.current_voters) + 1)
                for current_voters_item in self.current_voters:
                    current_voters_item.write(writer, version)
        elif self.current_voters is None or self.current_voters:
            raise missing_field("CurrentVoters", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> QuorumStateData:
        if version < 0 or version > 1:
            raise cannot_read("QuorumStateData", version)
        cluster_id: str = ""
        if version <= 0:
            cluster_id = reader.read_compact_string()
        at = reader.take(12)
        buffer = reader.buffer
        leader_id: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        voted_id: int = read_i32_be(buffer, at + 8)
        voted_directory_id: bytes = ZERO_UUID
        if version >= 1:
            voted_directory_id = reader.read_uuid()
        applied_offset: int = 0
        if version <= 0:
            applied_offset = reader.read_int64()
        current_voters: list[Voter] | None = []
        if version <= 0:
            current_voters = None if (length := reader.read_compact_nullable_array_length(5, 58)) < 0 else [Voter.read(reader, version) for _ in range(length)]
        unknown = reader.read_unknown_tagged_fields()
        message = QuorumStateData(cluster_id, leader_id, leader_epoch, voted_id, voted_directory_id, applied_offset, current_voters)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> QuorumStateData:
        reader = Reader(data)
        message = QuorumStateData.read(reader, version)
        reader.expect_end()
        return message
