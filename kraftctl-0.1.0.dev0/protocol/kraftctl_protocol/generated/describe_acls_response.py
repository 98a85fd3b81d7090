"""@generated from schemas/message/DescribeAclsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_int8,
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class AclDescription(Message):
    NAME: ClassVar[str] = "AclDescription"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("principal", "Principal", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("operation", "Operation", "int8"),
        Field("permission_type", "PermissionType", "int8"),
    )

    def __init__(
        self,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
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
    def read(reader: Reader, version: i64) -> AclDescription:
        if reader.position >= reader.pause_at:
            reader.pause()
        principal: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        host: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        operation: int = reader.read_int8()
        permission_type: int = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AclDescription(principal, host, operation, permission_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DescribeAclsResource(Message):
    NAME: ClassVar[str] = "DescribeAclsResource"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("pattern_type", "PatternType", "int8", versions=(1, 32767), default=3),
        Field("acls", "Acls", "[]AclDescription", default=(), struct=AclDescription),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = EMPTY,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.acls: list[AclDescription] = [] if acls is EMPTY else acls
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.resource_type)
        if version >= 2:
            write_compact_string(writer, self.resource_name)
        else:
            write_string(writer, self.resource_name)
        if version >= 1:
            write_int8(writer, self.pattern_type)
        elif self.pattern_type != 3:
            raise missing_field("PatternType", version)
        if version >= 2:
            write_uvarint(writer, len(self.acls) + 1)
        else:
            write_i32_be(writer, len(self.acls))
        for acls_item in self.acls:
            acls_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeAclsResource:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        pattern_type: int = 3
        if version >= 1:
            pattern_type = reader.read_int8()
        acls: list[AclDescription] = [AclDescription.read(reader, version) for _ in range(reader.read_compact_array_length(5, 82))] if version >= 2 else [AclDescription.read(reader, version) for _ in range(reader.read_array_length(6, 82))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeAclsResource(resource_type, resource_name, pattern_type, acls)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeAclsResponse(Message):
    NAME: ClassVar[str] = "DescribeAclsResponse"
    API_KEY: ClassVar[int] = 29
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("resources", "Resources", "[]DescribeAclsResource", default=(), struct=DescribeAclsResource),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resources: list[DescribeAclsResource] = [] if resources is EMPTY else resources
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("DescribeAclsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 2:
            write_uvarint(writer, len(self.resources) + 1)
        else:
            write_i32_be(writer, len(self.resources))
        for resources_item in self.resources:
            resources_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeAclsResponse:
        if version < 0 or version > 3:
            raise cannot_read("DescribeAclsResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        resources: list[DescribeAclsResource] = [DescribeAclsResource.read(reader, version) for _ in range(reader.read_compact_array_length(4, 146))] if version >= 2 else [DescribeAclsResource.read(reader, version) for _ in range(reader.read_array_length(7, 146))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeAclsResponse(throttle_time_ms, error_code, error_message, resources)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeAclsResponse:
        reader = Reader(data)
        message = DescribeAclsResponse.read(reader, version)
        reader.expect_end()
        return message
