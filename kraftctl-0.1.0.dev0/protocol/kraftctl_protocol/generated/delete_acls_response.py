"""@generated from schemas/message/DeleteAclsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i32_be
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
class DeleteAclsMatchingAcl(Message):
    NAME: ClassVar[str] = "DeleteAclsMatchingAcl"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("pattern_type", "PatternType", "int8", versions=(1, 32767), default=3),
        Field("principal", "Principal", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("operation", "Operation", "int8"),
        Field("permission_type", "PermissionType", "int8"),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
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
    def read(reader: Reader, version: i64) -> DeleteAclsMatchingAcl:
        if reader.position >= reader.pause_at:
            reader.pause()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        pattern_type: int = 3
        if version >= 1:
            pattern_type = reader.read_int8()
        principal: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        host: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        operation: int = reader.read_int8()
        permission_type: int = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteAclsMatchingAcl(error_code, error_message, resource_type, resource_name, pattern_type, principal, host, operation, permission_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DeleteAclsFilterResult(Message):
    NAME: ClassVar[str] = "DeleteAclsFilterResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("matching_acls", "MatchingAcls", "[]DeleteAclsMatchingAcl", default=(), struct=DeleteAclsMatchingAcl),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.matching_acls: list[DeleteAclsMatchingAcl] = [] if matching_acls is EMPTY else matching_acls
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 2:
            write_uvarint(writer, len(self.matching_acls) + 1)
        else:
            write_i32_be(writer, len(self.matching_acls))
        for matching_acls_item in self.matching_acls:
            matching_acls_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteAclsFilterResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        matching_acls: list[DeleteAclsMatchingAcl] = [DeleteAclsMatchingAcl.read(reader, version) for _ in range(reader.read_compact_array_length(10, 122))] if version >= 2 else [DeleteAclsMatchingAcl.read(reader, version) for _ in range(reader.read_array_length(13, 122))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteAclsFilterResult(error_code, error_message, matching_acls)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DeleteAclsResponse(Message):
    NAME: ClassVar[str] = "DeleteAclsResponse"
    API_KEY: ClassVar[int] = 31
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("filter_results", "FilterResults", "[]DeleteAclsFilterResult", default=(), struct=DeleteAclsFilterResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.filter_results: list[DeleteAclsFilterResult] = [] if filter_results is EMPTY else filter_results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("DeleteAclsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 2:
            write_uvarint(writer, len(self.filter_results) + 1)
        else:
            write_i32_be(writer, len(self.filter_results))
        for filter_results_item in self.filter_results:
            filter_results_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteAclsResponse:
        if version < 0 or version > 3:
            raise cannot_read("DeleteAclsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        filter_results: list[DeleteAclsFilterResult] = [DeleteAclsFilterResult.read(reader, version) for _ in range(reader.read_compact_array_length(5, 138))] if version >= 2 else [DeleteAclsFilterResult.read(reader, version) for _ in range(reader.read_array_length(8, 138))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteAclsResponse(throttle_time_ms, filter_results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DeleteAclsResponse:
        reader = Reader(data)
        message = DeleteAclsResponse.read(reader, version)
        reader.expect_end()
        return message
