"""@generated from schemas/message/RemoveRaftVoterRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_nullable_string,
    write_uuid,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class RemoveRaftVoterRequest(Message):
    NAME: ClassVar[str] = "RemoveRaftVoterRequest"
    API_KEY: ClassVar[int] = 81
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller", "broker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=""),
        Field("voter_id", "VoterId", "int32"),
        Field("voter_directory_id", "VoterDirectoryId", "uuid", default=ZERO_UUID),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("RemoveRaftVoterRequest", version)
        write_compact_nullable_string(writer, self.cluster_id)
        write_i32_be(writer, self.voter_id)
        write_uuid(writer, self.voter_directory_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RemoveRaftVoterRequest:
        if version != 0:
            raise cannot_read("RemoveRaftVoterRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string()
        at = reader.take(20)
        buffer = reader.buffer
        voter_id: int = read_i32_be(buffer, at)
        voter_directory_id: bytes = buffer[at + 4 : at + 20]
        unknown = reader.read_unknown_tagged_fields()
        message = RemoveRaftVoterRequest(cluster_id, voter_id, voter_directory_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RemoveRaftVoterRequest:
        reader = Reader(data)
        message = RemoveRaftVoterRequest.read(reader, version)
        reader.expect_end()
        return message
