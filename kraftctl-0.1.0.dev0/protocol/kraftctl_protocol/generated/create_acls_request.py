"""@generated from schemas/message/CreateAclsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_int8,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class AclCreation(Message):
    NAME: ClassVar[str] = "AclCreation"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("resource_pattern_type", "ResourcePatternType", "int8", versions=(1, 32767), default=3),
        Field("principal", "Principal", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("operation", "Operation", "int8"),
        Field("permission_type", "PermissionType", "int8"),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.resource_pattern_type: int = resource_pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.resource_type)
        if version >= 2:
            write_compact_string(writer, self.resource_name)
        else:
            write_string(writer, self.resource_name)
        if version >= 1:
            write_int8(writer, self.resource_pattern_type)
        elif self.resource_pattern_type != 3:
            raise missing_field("ResourcePatternType", version)
        if version >= 2:
            write_compact_string(writer, self.principal)
        else:
            write_string(writer, self.principal)
        if version >= 2:
            write_compact_string(writer, self.host)
        else:
            write_string(writer, self.host)
        write_int8(writer, self.operation)
        write_int8(writer, self.permission_type)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AclCreation:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        resource_pattern_type: int = 3
        if version >= 1:
            resource_pattern_type = reader.read_int8()
        principal: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        host: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        operation: int = reader.read_int8()
        permission_type: int = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AclCreation(resource_type, resource_name, resource_pattern_type, principal, host, operation, permission_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreateAclsRequest(Message):
    NAME: ClassVar[str] = "CreateAclsRequest"
    API_KEY: ClassVar[int] = 30
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("creations", "Creations", "[]AclCreation", default=(), struct=AclCreation),
    )

    def __init__(
        self,
        creations: list[AclCreation] = EMPTY,
    ) -> None:
        self.creations: list[AclCreation] = [] if creations is EMPTY else creations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("CreateAclsRequest", version)
        if version >= 2:
            write_uvarint(writer, len(self.creations) + 1)
        else:
            write_i32_be(writer, len(self.creations))
        for creations_item in self.creations:
            creations_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreateAclsRequest:
        if version < 0 or version > 3:
            raise cannot_read("CreateAclsRequest", version)
        creations: list[AclCreation] = [AclCreation.read(reader, version) for _ in range(reader.read_compact_array_length(7, 106))] if version >= 2 else [AclCreation.read(reader, version) for _ in range(reader.read_array_length(9, 106))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreateAclsRequest(creations)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreateAclsRequest:
        reader = Reader(data)
        message = CreateAclsRequest.read(reader, version)
        reader.expect_end()
        return message
