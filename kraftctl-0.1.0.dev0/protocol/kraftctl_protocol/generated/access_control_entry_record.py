"""@generated from schemas/metadata/AccessControlEntryRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
    write_int8,
    write_uuid,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class AccessControlEntryRecord(Message):
    NAME: ClassVar[str] = "AccessControlEntryRecord"
    API_KEY: ClassVar[int] = 18
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("id", "Id", "uuid", default=ZERO_UUID),
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("pattern_type", "PatternType", "int8"),
        Field("principal", "Principal", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("operation", "Operation", "int8"),
        Field("permission_type", "PermissionType", "int8"),
    )

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.id: bytes = id
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AccessControlEntryRecord", version)
        write_uuid(writer, self.id)
        write_int8(writer, self.resource_type)
        write_compact_string(writer, self.resource_name)
        write_int8(writer, self.pattern_type)
        write_compact_string(writer, self.principal)
        write_compact_string(writer, self.host)
        write_int8(writer, self.operation)
        write_int8(writer, self.permission_type)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AccessControlEntryRecord:
        if version != 0:
            raise cannot_read("AccessControlEntryRecord", version)
        id: bytes = reader.read_uuid()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string()
        pattern_type: int = reader.read_int8()
        principal: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        operation: int = reader.read_int8()
        permission_type: int = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = AccessControlEntryRecord(id, resource_type, resource_name, pattern_type, principal, host, operation, permission_type)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AccessControlEntryRecord:
        reader = Reader(data)
        message = AccessControlEntryRecord.read(reader, version)
        reader.expect_end()
        return message
