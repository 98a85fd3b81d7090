"""@generated from schemas/message/AddRaftVoterRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_uint16,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class Listener(Message):
    NAME: ClassVar[str] = "Listener"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "uint16"),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_compact_string(writer, self.host)
        write_uint16(writer, self.port)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> Listener:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        unknown = reader.read_unknown_tagged_fields()
        message = Listener(name, host, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AddRaftVoterRequest(Message):
    NAME: ClassVar[str] = "AddRaftVoterRequest"
    API_KEY: ClassVar[int] = 80
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller", "broker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=""),
        Field("timeout_ms", "TimeoutMs", "int32"),
        Field("voter_id", "VoterId", "int32"),
        Field("voter_directory_id", "VoterDirectoryId", "uuid", default=ZERO_UUID),
        Field("listeners", "Listeners", "[]Listener", default=(), struct=Listener),
        Field("ack_when_committed", "AckWhenCommitted", "bool", versions=(1, 32767), default=True),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.timeout_ms: int = timeout_ms
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.listeners: list[Listener] = [] if listeners is EMPTY else listeners
        self.ack_when_committed: bool = ack_when_committed
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("AddRaftVoterRequest", version)
        write_compact_nullable_string(writer, self.cluster_id)
        write_i32_be(writer, self.timeout_ms)
        write_i32_be(writer, self.voter_id)
        write_uuid(writer, self.voter_directory_id)
        write_uvarint(writer, len(self.listeners) + 1)
        for listeners_item in self.listeners:
            listeners_item.write(writer, version)
        if version >= 1:
            writer.append(1 if self.ack_when_committed else 0)
        elif not self.ack_when_committed:
            raise missing_field("AckWhenCommitted", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AddRaftVoterRequest:
        if version < 0 or version > 1:
            raise cannot_read("AddRaftVoterRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string()
        at = reader.take(24)
        buffer = reader.buffer
        timeout_ms: int = read_i32_be(buffer, at)
        voter_id: int = read_i32_be(buffer, at + 4)
        voter_directory_id: bytes = buffer[at + 8 : at + 24]
        listeners: list[Listener] = [Listener.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        ack_when_committed: bool = True
        if version >= 1:
            ack_when_committed = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = AddRaftVoterRequest(cluster_id, timeout_ms, voter_id, voter_directory_id, listeners, ack_when_committed)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AddRaftVoterRequest:
        reader = Reader(data)
        message = AddRaftVoterRequest.read(reader, version)
        reader.expect_end()
        return message
