"""@generated from schemas/metadata/RegisterControllerRecord.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_uint16,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class ControllerEndpoint(Message):
    NAME: ClassVar[str] = "ControllerEndpoint"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "uint16"),
        Field("security_protocol", "SecurityProtocol", "int16"),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port
        self.security_protocol: int = security_protocol
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_compact_string(writer, self.host)
        write_uint16(writer, self.port)
        write_i16_be(writer, self.security_protocol)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ControllerEndpoint:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        security_protocol: int = reader.read_int16()
        unknown = reader.read_unknown_tagged_fields()
        message = ControllerEndpoint(name, host, port, security_protocol)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ControllerFeature(Message):
    NAME: ClassVar[str] = "ControllerFeature"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("min_supported_version", "MinSupportedVersion", "int16"),
        Field("max_supported_version", "MaxSupportedVersion", "int16"),
    )

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_supported_version: int = min_supported_version
        self.max_supported_version: int = max_supported_version
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_i16_be(writer, self.min_supported_version)
        write_i16_be(writer, self.max_supported_version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ControllerFeature:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        at = reader.take(4)
        buffer = reader.buffer
        min_supported_version: int = read_i16_be(buffer, at)
        max_supported_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = ControllerFeature(name, min_supported_version, max_supported_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class RegisterControllerRecord(Message):
    NAME: ClassVar[str] = "RegisterControllerRecord"
    API_KEY: ClassVar[int] = 27
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("controller_id", "ControllerId", "int32"),
        Field("incarnation_id", "IncarnationId", "uuid", default=ZERO_UUID),
        Field("zk_migration_ready", "ZkMigrationReady", "bool", default=False),
        Field("end_points", "EndPoints", "[]ControllerEndpoint", default=(), struct=ControllerEndpoint),
        Field("features", "Features", "[]ControllerFeature", default=(), struct=ControllerFeature),
    )

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = EMPTY,
        features: list[ControllerFeature] = EMPTY,
    ) -> None:
        self.controller_id: int = controller_id
        self.incarnation_id: bytes = incarnation_id
        self.zk_migration_ready: bool = zk_migration_ready
        self.end_points: list[ControllerEndpoint] = [] if end_points is EMPTY else end_points
        self.features: list[ControllerFeature] = [] if features is EMPTY else features
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("RegisterControllerRecord", version)
        write_i32_be(writer, self.controller_id)
        write_uuid(writer, self.incarnation_id)
        writer.append(1 if self.zk_migration_ready else 0)
        write_uvarint(writer, len(self.end_points) + 1)
        for end_points_item in self.end_points:
            end_points_item.write(writer, version)
        write_uvarint(writer, len(self.features) + 1)
        for features_item in self.features:
            features_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RegisterControllerRecord:
        if version != 0:
            raise cannot_read("RegisterControllerRecord", version)
        at = reader.take(21)
        buffer = reader.buffer
        controller_id: int = read_i32_be(buffer, at)
        incarnation_id: bytes = buffer[at + 4 : at + 20]
        zk_migration_ready: bool = buffer[at + 20] != 0
        end_points: list[ControllerEndpoint] = [ControllerEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(7, 82))]
        features: list[ControllerFeature] = [ControllerFeature.read(reader, version) for _ in range(reader.read_compact_array_length(6, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = RegisterControllerRecord(controller_id, incarnation_id, zk_migration_ready, end_points, features)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RegisterControllerRecord:
        reader = Reader(data)
        message = RegisterControllerRecord.read(reader, version)
        reader.expect_end()
        return message
