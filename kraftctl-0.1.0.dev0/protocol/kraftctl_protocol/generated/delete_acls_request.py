"""@generated from schemas/message/DeleteAclsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_int8,
    write_nullable_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class DeleteAclsFilter(Message):
    NAME: ClassVar[str] = "DeleteAclsFilter"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type_filter", "ResourceTypeFilter", "int8"),
        Field("resource_name_filter", "ResourceNameFilter", "string", nullable=(0, 32767), default=""),
        Field("pattern_type_filter", "PatternTypeFilter", "int8", versions=(1, 32767), default=3),
        Field("principal_filter", "PrincipalFilter", "string", nullable=(0, 32767), default=""),
        Field("host_filter", "HostFilter", "string", nullable=(0, 32767), default=""),
        Field("operation", "Operation", "int8"),
        Field("permission_type", "PermissionType", "int8"),
    )

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter: int = resource_type_filter
        self.resource_name_filter: str | None = resource_name_filter
        self.pattern_type_filter: int = pattern_type_filter
        self.principal_filter: str | None = principal_filter
        self.host_filter: str | None = host_filter
        self.operation: int = operation
        self.permission_type: int = permission_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.resource_type_filter)
        if version >= 2:
            write_compact_nullable_string(writer, self.resource_name_filter)
        else:
            write_nullable_string(writer, self.resource_name_filter)
        if version >= 1:
            write_int8(writer, self.pattern_type_filter)
        elif self.pattern_type_filter != 3:
            raise missing_field("PatternTypeFilter", version)
        if version >= 2:
            write_compact_nullable_string(writer, self.principal_filter)
        else:
            write_nullable_string(writer, self.principal_filter)
        if version >= 2:
            write_compact_nullable_string(writer, self.host_filter)
        else:
            write_nullable_string(writer, self.host_filter)
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
    def read(reader: Reader, version: i64) -> DeleteAclsFilter:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_type_filter: int = reader.read_int8()
        resource_name_filter: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        pattern_type_filter: int = 3
        if version >= 1:
            pattern_type_filter = reader.read_int8()
        principal_filter: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        host_filter: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        operation: int = reader.read_int8()
        permission_type: int = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteAclsFilter(resource_type_filter, resource_name_filter, pattern_type_filter, principal_filter, host_filter, operation, permission_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DeleteAclsRequest(Message):
    NAME: ClassVar[str] = "DeleteAclsRequest"
    API_KEY: ClassVar[int] = 31
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("filters", "Filters", "[]DeleteAclsFilter", default=(), struct=DeleteAclsFilter),
    )

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = EMPTY,
    ) -> None:
        self.filters: list[DeleteAclsFilter] = [] if filters is EMPTY else filters
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("DeleteAclsRequest", version)
        if version >= 2:
            write_uvarint(writer, len(self.filters) + 1)
        else:
            write_i32_be(writer, len(self.filters))
        for filters_item in self.filters:
            filters_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteAclsRequest:
        if version < 0 or version > 3:
            raise cannot_read("DeleteAclsRequest", version)
        filters: list[DeleteAclsFilter] = [DeleteAclsFilter.read(reader, version) for _ in range(reader.read_compact_array_length(7, 106))] if version >= 2 else [DeleteAclsFilter.read(reader, version) for _ in range(reader.read_array_length(9, 106))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteAclsRequest(filters)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DeleteAclsRequest:
        reader = Reader(data)
        message = DeleteAclsRequest.read(reader, version)
        reader.expect_end()
        return message
