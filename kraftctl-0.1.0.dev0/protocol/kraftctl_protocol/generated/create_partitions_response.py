"""@generated from schemas/message/CreatePartitionsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class CreatePartitionsTopicResult(Message):
    NAME: ClassVar[str] = "CreatePartitionsTopicResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=None),
    )

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str = name
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.name)
        else:
            write_string(writer, self.name)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatePartitionsTopicResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatePartitionsTopicResult(name, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreatePartitionsResponse(Message):
    NAME: ClassVar[str] = "CreatePartitionsResponse"
    API_KEY: ClassVar[int] = 37
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("results", "Results", "[]CreatePartitionsTopicResult", default=(), struct=CreatePartitionsTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[CreatePartitionsTopicResult] = [] if results is EMPTY else results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("CreatePartitionsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 2:
            write_uvarint(writer, len(self.results) + 1)
        else:
            write_i32_be(writer, len(self.results))
        for results_item in self.results:
            results_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreatePartitionsResponse:
        if version < 0 or version > 3:
            raise cannot_read("CreatePartitionsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        results: list[CreatePartitionsTopicResult] = [CreatePartitionsTopicResult.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))] if version >= 2 else [CreatePartitionsTopicResult.read(reader, version) for _ in range(reader.read_array_length(6, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatePartitionsResponse(throttle_time_ms, results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreatePartitionsResponse:
        reader = Reader(data)
        message = CreatePartitionsResponse.read(reader, version)
        reader.expect_end()
        return message
