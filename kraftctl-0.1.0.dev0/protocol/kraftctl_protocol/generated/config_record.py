"""@generated from schemas/metadata/ConfigRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_int8,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ConfigRecord(Message):
    NAME: ClassVar[str] = "ConfigRecord"
    API_KEY: ClassVar[int] = 4
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("name", "Name", "string", default=""),
        Field("value", "Value", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.name: str = name
        self.value: str | None = value
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ConfigRecord", version)
        write_int8(writer, self.resource_type)
        write_compact_string(writer, self.resource_name)
        write_compact_string(writer, self.name)
        write_compact_nullable_string(writer, self.value)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ConfigRecord:
        if version != 0:
            raise cannot_read("ConfigRecord", version)
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string()
        name: str = reader.read_compact_string()
        value: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = ConfigRecord(resource_type, resource_name, name, value)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ConfigRecord:
        reader = Reader(data)
        message = ConfigRecord.read(reader, version)
        reader.expect_end()
        return message
