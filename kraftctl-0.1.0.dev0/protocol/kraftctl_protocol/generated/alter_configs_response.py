"""@generated from schemas/message/AlterConfigsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
class AlterConfigsResourceResponse(Message):
    NAME: ClassVar[str] = "AlterConfigsResourceResponse"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("resource_type", "ResourceType", "int8"),
        Field("resource_name", "ResourceName", "string", default=""),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
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
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterConfigsResourceResponse:
        if reader.position >= reader.pause_at:
            reader.pause()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        resource_type: int = reader.read_int8()
        resource_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterConfigsResourceResponse(error_code, error_message, resource_type, resource_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterConfigsResponse(Message):
    NAME: ClassVar[str] = "AlterConfigsResponse"
    API_KEY: ClassVar[int] = 33
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("responses", "Responses", "[]AlterConfigsResourceResponse", default=(), struct=AlterConfigsResourceResponse),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[AlterConfigsResourceResponse] = [] if responses is EMPTY else responses
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("AlterConfigsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 2:
            write_uvarint(writer, len(self.responses) + 1)
        else:
            write_i32_be(writer, len(self.responses))
        for responses_item in self.responses:
            responses_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterConfigsResponse:
        if version < 0 or version > 2:
            raise cannot_read("AlterConfigsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        responses: list[AlterConfigsResourceResponse] = [AlterConfigsResourceResponse.read(reader, version) for _ in range(reader.read_compact_array_length(6, 82))] if version >= 2 else [AlterConfigsResourceResponse.read(reader, version) for _ in range(reader.read_array_length(7, 82))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterConfigsResponse(throttle_time_ms, responses)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterConfigsResponse:
        reader = Reader(data)
        message = AlterConfigsResponse.read(reader, version)
        reader.expect_end()
        return message
