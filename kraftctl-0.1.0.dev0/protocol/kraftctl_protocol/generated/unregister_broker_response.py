"""@generated from schemas/message/UnregisterBrokerResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_nullable_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class UnregisterBrokerResponse(Message):
    NAME: ClassVar[str] = "UnregisterBrokerResponse"
    API_KEY: ClassVar[int] = 64
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UnregisterBrokerResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UnregisterBrokerResponse:
        if version != 0:
            raise cannot_read("UnregisterBrokerResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = UnregisterBrokerResponse(throttle_time_ms, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UnregisterBrokerResponse:
        reader = Reader(data)
        message = UnregisterBrokerResponse.read(reader, version)
        reader.expect_end()
        return message
