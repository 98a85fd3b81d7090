"""@generated from schemas/message/DescribeConfigsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
class DescribeConfigsSynonym(Message):
    NAME: ClassVar[str] = "DescribeConfigsSynonym"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(1, 32767), default=""),
        Field("value", "Value", "string", versions=(1, 32767), nullable=(1, 32767), default=""),
        Field("source", "Source", "int8", versions=(1, 32767)),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.source: int = source
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 4:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        if version >= 4:
            write_compact_nullable_string(writer, self.value)
        else:
            write_nullable_string(writer, self.value)
        write_int8(writer, self.source)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsSynonym:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        value: str | None = reader.read_compact_nullable_string() if version >= 4 else reader.read_nullable_string()
        source: int = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsSynonym(name, value, source)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DescribeConfigsResourceResult(Message):
    NAME: ClassVar[str] = "DescribeConfigsResourceResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("value", "Value", "string", nullable=(0, 32767), default=""),
        Field("read_only", "ReadOnly", "bool", default=False),
        Field("is_default", "IsDefault", "bool", versions=(0, 0), default=False),
        Field("config_source", "ConfigSource", "int8", versions=(1, 32767), default=-1, ignorable=True),
        Field("is_sensitive", "IsSensitive", "bool", default=False),
        Field("synonyms", "Synonyms", "[]DescribeConfigsSynonym", versions=(1, 32767), default=(), ignorable=True, struct=DescribeConfigsSynonym),
        Field("config_type", "ConfigType", "int8", versions=(3, 32767), ignorable=True),
        Field("documentation", "Documentation", "string", versions=(3, 32767), nullable=(3, 32767), default="", ignorable=True),
    )

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        is_default: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = EMPTY,
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.is_default: bool = is_default
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive
        self.synonyms: list[DescribeConfigsSynonym] = [] if synonyms is EMPTY else synonyms
        self.config_type: int = config_type
        self.documentation: str | None = documentation
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 4:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        if version >= 4:
            write_compact_nullable_string(writer, self.value)
        else:
            write_nullable_string(writer, self.value)
        writer.append(1 if self.read_only else 0)
        if version <= 0:
            writer.append(1 if self.is_default else 0)
        elif self.is_default:
            raise missing_field("IsDefault", version)
        if version >= 1:
            write_int8(writer, self.config_source)
        writer.append(1 if self.is_sensitive else 0)
        if version >= 1:
            if version >= 4:
                write_uvarint(writer, len(self.synonyms) + 1)
            else:
                write_i32_be(writer, len(self.synonyms))
            for synonyms_item in self.synonyms:
                synonyms_item.write(writer, version)
        if version >= 3:
            write_int8(writer, self.config_type)
        if version >= 3:
            if version >= 4:
                write_compact_nullable_string(writer, self.documentation)
            else:
                write_nullable_string(writer, self.documentation)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsResourceResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        value: str | None = reader.read_compact_nullable_string() if version >= 4 else reader.read_nullable_string()
        read_only: bool = reader.read_bool()
        is_default: bool = False
        if version <= 0:
            is_default = reader.read_bool()
        config_source: int = -1
        if version >= 1:
            config_source = reader.read_int8()
        is_sensitive: bool = reader.read_bool()
        synonyms: list[DescribeConfigsSynonym] = []
        if version >= 1:
            synonyms = [DescribeConfigsSynonym.read(reader, version) for _ in range(reader.read_compact_array_length(4, 74))] if version >= 4 else [DescribeConfigsSynonym.read(reader, version) for _ in range(reader.read_array_length(5, 74))]
        config_type: int = 0
        if version >= 3:
            config_type = reader.read_int8()
        documentation: str | None = ""
        if version >= 3:
            documentation = reader.read_compact_nullable_string() if version >= 4 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsResourceResult(name, value, read_only, is_default, config_source, is_sensitive, synonyms, config_type, documentation)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DescribeConfigsResult(Message):
    NAME: ClassVar[str] = "DescribeConfigsResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
        Field("configs", "Configs", "[]DescribeConfigsResourceResult", default=(), struct=DescribeConfigsResourceResult),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[DescribeConfigsResourceResult] = [] if configs is EMPTY else configs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        if version >= 4:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        write_int8(writer, self.resource_type)
        if version >= 4:
            write_compact_string(writer, self.resource_name)
        else:
            write_string(writer, self.resource_name)
        if version >= 4:
            write_uvarint(writer, len(self.configs) + 1)
        else:
            write_i32_be(writer, len(self.configs))
        for configs_item in self.configs:
            configs_item.write(writer, version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 4 else reader.read_nullable_string()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        configs: list[DescribeConfigsResourceResult] = [DescribeConfigsResourceResult.read(reader, version) for _ in range(reader.read_compact_array_length(6, 186))] if version >= 4 else [DescribeConfigsResourceResult.read(reader, version) for _ in range(reader.read_array_length(7, 186))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeConfigsResponse(Message):
    NAME: ClassVar[str] = "DescribeConfigsResponse"
    API_KEY: ClassVar[int] = 32
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("results", "Results", "[]DescribeConfigsResult", default=(), struct=DescribeConfigsResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[DescribeConfigsResult] = [] if results is EMPTY else results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 4:
            raise cannot_write("DescribeConfigsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 4:
            write_uvarint(writer, len(self.results) + 1)
        else:
            write_i32_be(writer, len(self.results))
        for results_item in self.results:
            results_item.write(writer, version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeConfigsResponse:
        if version < 0 or version > 4:
            raise cannot_read("DescribeConfigsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        results: list[DescribeConfigsResult] = [DescribeConfigsResult.read(reader, version) for _ in range(reader.read_compact_array_length(7, 154))] if version >= 4 else [DescribeConfigsResult.read(reader, version) for _ in range(reader.read_array_length(11, 154))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeConfigsResponse(throttle_time_ms, results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeConfigsResponse:
        reader = Reader(data)
        message = DescribeConfigsResponse.read(reader, version)
        reader.expect_end()
        return message
