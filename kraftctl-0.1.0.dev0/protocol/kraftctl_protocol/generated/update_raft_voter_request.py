"""@generated from schemas/message/UpdateRaftVoterRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
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


@mypyc_attr(acyclic=True)
class KRaftVersionFeature(Message):
    NAME: ClassVar[str] = "KRaftVersionFeature"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("min_supported_version", "MinSupportedVersion", "int16"),
        Field("max_supported_version", "MaxSupportedVersion", "int16"),
    )

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version: int = min_supported_version
        self.max_supported_version: int = max_supported_version
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.min_supported_version == 0
            and self.max_supported_version == 0
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.min_supported_version)
        write_i16_be(writer, self.max_supported_version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> KRaftVersionFeature:
        at = reader.take(4)
        buffer = reader.buffer
        min_supported_version: int = read_i16_be(buffer, at)
        max_supported_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = KRaftVersionFeature(min_supported_version, max_supported_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class UpdateRaftVoterRequest(Message):
    NAME: ClassVar[str] = "UpdateRaftVoterRequest"
    API_KEY: ClassVar[int] = 82
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("cluster_id", "ClusterId", "string", nullable=(0, 32767), default=""),
        Field("current_leader_epoch", "CurrentLeaderEpoch", "int32"),
        Field("voter_id", "VoterId", "int32"),
        Field("voter_directory_id", "VoterDirectoryId", "uuid", default=ZERO_UUID),
        Field("listeners", "Listeners", "[]Listener", default=(), struct=Listener),
        Field("kraft_version_feature", "KRaftVersionFeature", "KRaftVersionFeature", default=(), struct=KRaftVersionFeature),
    )

    def __init__(
        self,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        kraft_version_feature: KRaftVersionFeature | None = None,
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.current_leader_epoch: int = current_leader_epoch
        self.voter_id: int = voter_id
        self.voter_directory_id: bytes = voter_directory_id
        self.listeners: list[Listener] = [] if listeners is EMPTY else listeners
        self.kraft_version_feature: KRaftVersionFeature = KRaftVersionFeature() if kraft_version_feature is None else kraft_version_feature
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UpdateRaftVoterRequest", version)
        write_compact_nullable_string(writer, self.cluster_id)
        write_i32_be(writer, self.current_leader_epoch)
        write_i32_be(writer, self.voter_id)
        write_uuid(writer, self.voter_directory_id)
        write_uvarint(writer, len(self.listeners) + 1)
        for listeners_item in self.listeners:
            listeners_item.write(writer, version)
        self.kraft_version_feature.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UpdateRaftVoterRequest:
        if version != 0:
            raise cannot_read("UpdateRaftVoterRequest", version)
        cluster_id: str | None = reader.read_compact_nullable_string()
        at = reader.take(24)
        buffer = reader.buffer
        current_leader_epoch: int = read_i32_be(buffer, at)
        voter_id: int = read_i32_be(buffer, at + 4)
        voter_directory_id: bytes = buffer[at + 8 : at + 24]
        listeners: list[Listener] = [Listener.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        kraft_version_feature: KRaftVersionFeature = KRaftVersionFeature.read(reader, version)
        unknown = reader.read_unknown_tagged_fields()
        message = UpdateRaftVoterRequest(cluster_id, current_leader_epoch, voter_id, voter_directory_id, listeners, kraft_version_feature)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UpdateRaftVoterRequest:
        reader = Reader(data)
        message = UpdateRaftVoterRequest.read(reader, version)
        reader.expect_end()
        return message
