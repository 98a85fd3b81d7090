"""@generated from schemas/message/LeaderChangeMessage.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class Voter(Message):
    NAME: ClassVar[str] = "Voter"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("voter_id", "VoterId", "int32"),
        Field("voter_directory_id", "VoterDirectoryId", "uuid", versions=(1, 32767), default=ZERO_UUID),
    )

    def __init__(
        self,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.voter_id)
        if version >= 1:
            write_uuid(writer, self.voter_directory_id)
        elif self.voter_directory_id != ZERO_UUID:
            raise missing_field("VoterDirectoryId", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> Voter:
        if reader.position >= reader.pause_at:
            reader.pause()
        voter_id: int = reader.read_int32()
        voter_directory_id: bytes = ZERO_UUID
        if version >= 1:
            voter_directory_id = reader.read_uuid()
        unknown = reader.read_unknown_tagged_fields()
        message = Voter(voter_id, voter_directory_id)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class LeaderChangeMessage(Message):
    NAME: ClassVar[str] = "LeaderChangeMessage"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("version", "Version", "int16"),
        Field("leader_id", "LeaderId", "int32"),
        Field("voters", "Voters", "[]Voter", default=(), struct=Voter),
        Field("granting_voters", "GrantingVoters", "[]Voter", default=(), struct=Voter),
    )

    def __init__(
        self,
        version: int = 0,
        leader_id: int = 0,
        voters: list[Voter] = EMPTY,
        granting_voters: list[Voter] = EMPTY,
    ) -> None:
        self.version: int = version
        self.leader_id: int = leader_id
        self.voters: list[Voter] = [] if voters is EMPTY else voters
        self.granting_voters: list[Voter] = [] if granting_voters is EMPTY else granting_voters
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("LeaderChangeMessage", version)
        write_i16_be(writer, self.version)
        write_i32_be(writer, self.leader_id)
        write_uvarint(writer, len(self.voters) + 1)
        for voters_item in self.voters:
            voters_item.write(writer, version)
        write_uvarint(writer, len(self.granting_voters) + 1)
        for granting_voters_item in self.granting_voters:
            granting_voters_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderChangeMessage:
        if version < 0 or version > 1:
            raise cannot_read("LeaderChangeMessage", version)
        at = reader.take(6)
        buffer = reader.buffer
        version_: int = read_i16_be(buffer, at)
        leader_id: int = read_i32_be(buffer, at + 2)
        voters: list[Voter] = [Voter.read(reader, version) for _ in range(reader.read_compact_array_length(5, 130))]
        granting_voters: list[Voter] = [Voter.read(reader, version) for _ in range(reader.read_compact_array_length(5, 130))]
        unknown = reader.read_unknown_tagged_fields()
        message = LeaderChangeMessage(version_, leader_id, voters, granting_voters)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> LeaderChangeMessage:
        reader = Reader(data)
        message = LeaderChangeMessage.read(reader, version)
        reader.expect_end()
        return message
