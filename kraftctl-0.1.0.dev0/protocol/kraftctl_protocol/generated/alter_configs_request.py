"""@generated from schemas/message/AlterConfigsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_int8,
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class AlterableConfig(Message):
    NAME: ClassVar[str] = "AlterableConfig"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("value", "Value", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        if version >= 2:
            write_compact_nullable_string(writer, self.value)
        else:
            write_nullable_string(writer, self.value)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterableConfig:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        value: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterableConfig(name, value)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class AlterConfigsResource(Message):
    NAME: ClassVar[str] = "AlterConfigsResource"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("configs", "Configs", "[]AlterableConfig", default=(), struct=AlterableConfig),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = EMPTY,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[AlterableConfig] = [] if configs is EMPTY else configs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.resource_type)
        if version >= 2:
            write_compact_string(writer, self.resource_name)
        else:
            write_string(writer, self.resource_name)
        if version >= 2:
            write_uvarint(writer, len(self.configs) + 1)
        else:
            write_i32_be(writer, len(self.configs))
        for configs_item in self.configs:
            configs_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterConfigsResource:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        configs: list[AlterableConfig] = [AlterableConfig.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 2 else [AlterableConfig.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterConfigsResource(resource_type, resource_name, configs)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterConfigsRequest(Message):
    NAME: ClassVar[str] = "AlterConfigsRequest"
    API_KEY: ClassVar[int] = 33
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resources", "Resources", "[]AlterConfigsResource", default=(), struct=AlterConfigsResource),
        Field("validate_only", "ValidateOnly", "bool", default=False),
    )

    def __init__(
        self,
        resources: list[AlterConfigsResource] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.resources: list[AlterConfigsResource] = [] if resources is EMPTY else resources
        self.validate_only: bool = validate_only
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("AlterConfigsRequest", version)
        if version >= 2:
            write_uvarint(writer, len(self.resources) + 1)
        else:
            write_i32_be(writer, len(self.resources))
        for resources_item in self.resources:
            resources_item.write(writer, version)
        writer.append(1 if self.validate_only else 0)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterConfigsRequest:
        if version < 0 or version > 2:
            raise cannot_read("AlterConfigsRequest", version)
        resources: list[AlterConfigsResource] = [AlterConfigsResource.read(reader, version) for _ in range(reader.read_compact_array_length(4, 138))] if version >= 2 else [AlterConfigsResource.read(reader, version) for _ in range(reader.read_array_length(7, 138))]
        validate_only: bool = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterConfigsRequest(resources, validate_only)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterConfigsRequest:
        reader = Reader(data)
        message = AlterConfigsRequest.read(reader, version)
        reader.expect_end()
        return message
