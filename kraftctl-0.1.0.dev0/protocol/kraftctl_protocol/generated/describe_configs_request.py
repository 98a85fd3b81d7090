"""@generated from schemas/message/DescribeConfigsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
class DescribeConfigsResource(Message):
    NAME: ClassVar[str] = "DescribeConfigsResource"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("configuration_keys", "ConfigurationKeys", "[]string", nullable=(0, 32767), default=()),
    )

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = EMPTY,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configuration_keys: list[str] | None = [] if configuration_keys is EMPTY else configuration_keys
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.resource_type)
        if version >= 4:
            write_compact_string(writer, self.resource_name)
        else:
            write_string(writer, self.resource_name)
        if self.configuration_keys is None:
            if version >= 4:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 4:
                write_uvarint(writer, len(self.configuration_keys) + 1)
                for configuration_keys_item in self.configuration_keys:
                    write_compact_string(writer, configuration_keys_item)
            else:
                write_i32_be(writer, len(self.configuration_keys))
                for configuration_keys_item in self.configuration_keys:
                    write_string(writer, configuration_keys_item)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsResource:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        configuration_keys: list[str] | None = (None if (length := reader.read_compact_nullable_array_length(1, 10)) < 0 else [reader.read_compact_string() for _ in range(length)]) if version >= 4 else (None if (length := reader.read_nullable_array_length(2, 10)) < 0 else [reader.read_string() for _ in range(length)])
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsResource(resource_type, resource_name, configuration_keys)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeConfigsRequest(Message):
    NAME: ClassVar[str] = "DescribeConfigsRequest"
    API_KEY: ClassVar[int] = 32
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resources", "Resources", "[]DescribeConfigsResource", default=(), struct=DescribeConfigsResource),
        Field("include_synonyms", "IncludeSynonyms", "bool", versions=(1, 32767), default=False),
        Field("include_documentation", "IncludeDocumentation", "bool", versions=(3, 32767), default=False),
    )

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = EMPTY,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources: list[DescribeConfigsResource] = [] if resources is EMPTY else resources
        self.include_synonyms: bool = include_synonyms
        self.include_documentation: bool = include_documentation
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 4:
            raise cannot_write("DescribeConfigsRequest", version)
        if version >= 4:
            write_uvarint(writer, len(self.resources) + 1)
        else:
            write_i32_be(writer, len(self.resources))
        for resources_item in self.resources:
            resources_item.write(writer, version)
        if version >= 1:
            writer.append(1 if self.include_synonyms else 0)
        elif self.include_synonyms:
            raise missing_field("IncludeSynonyms", version)
        if version >= 3:
            writer.append(1 if self.include_documentation else 0)
        elif self.include_documentation:
            raise missing_field("IncludeDocumentation", version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsRequest:
        if version < 0 or version > 4:
            raise cannot_read("DescribeConfigsRequest", version)
        resources: list[DescribeConfigsResource] = [DescribeConfigsResource.read(reader, version) for _ in range(reader.read_compact_array_length(4, 138))] if version >= 4 else [DescribeConfigsResource.read(reader, version) for _ in range(reader.read_array_length(7, 138))]
        include_synonyms: bool = False
        if version >= 1:
            include_synonyms = reader.read_bool()
        include_documentation: bool = False
        if version >= 3:
            include_documentation = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsRequest(resources, include_synonyms, include_documentation)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeConfigsRequest:
        reader = Reader(data)
        message = DescribeConfigsRequest.read(reader, version)
        reader.expect_end()
        return message
