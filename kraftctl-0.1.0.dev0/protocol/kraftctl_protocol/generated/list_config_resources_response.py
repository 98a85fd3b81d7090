"""@generated from schemas/message/ListConfigResourcesResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_int8,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class ConfigResource(Message):
    NAME: ClassVar[str] = "ConfigResource"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_name", "ResourceName", "string", default=""),
        Field("resource_type", "ResourceType", "int8", versions=(1, 32767), default=16, ignorable=True),
    )

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name: str = resource_name
        self.resource_type: int = resource_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.resource_name)
        if version >= 1:
            write_int8(writer, self.resource_type)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ConfigResource:
        if reader.position >= reader.pause_at:
            reader.pause()
        resource_name: str = reader.read_compact_string()
        resource_type: int = 16
        if version >= 1:
            resource_type = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = ConfigResource(resource_name, resource_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ListConfigResourcesResponse(Message):
    NAME: ClassVar[str] = "ListConfigResourcesResponse"
    API_KEY: ClassVar[int] = 74
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("config_resources", "ConfigResources", "[]ConfigResource", default=(), struct=ConfigResource),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.config_resources: list[ConfigResource] = [] if config_resources is EMPTY else config_resources
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("ListConfigResourcesResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_uvarint(writer, len(self.config_resources) + 1)
        for config_resources_item in self.config_resources:
            config_resources_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ListConfigResourcesResponse:
        if version < 0 or version > 1:
            raise cannot_read("ListConfigResourcesResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        config_resources: list[ConfigResource] = [ConfigResource.read(reader, version) for _ in range(reader.read_compact_array_length(2, 66))]
        unknown = reader.read_unknown_tagged_fields()
        message = ListConfigResourcesResponse(throttle_time_ms, error_code, config_resources)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ListConfigResourcesResponse:
        reader = Reader(data)
        message = ListConfigResourcesResponse.read(reader, version)
        reader.expect_end()
        return message
