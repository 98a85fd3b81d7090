"""@generated from schemas/message/ExpireDelegationTokenResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ExpireDelegationTokenResponse(Message):
    NAME: ClassVar[str] = "ExpireDelegationTokenResponse"
    API_KEY: ClassVar[int] = 40
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("expiry_timestamp_ms", "ExpiryTimestampMs", "int64"),
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
    )

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.expiry_timestamp_ms: int = expiry_timestamp_ms
        self.throttle_time_ms: int = throttle_time_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("ExpireDelegationTokenResponse", version)
        write_i16_be(writer, self.error_code)
        write_i64_be(writer, self.expiry_timestamp_ms)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ExpireDelegationTokenResponse:
        if version < 0 or version > 2:
            raise cannot_read("ExpireDelegationTokenResponse", version)
        at = reader.take(14)
        buffer = reader.buffer
        error_code: int = read_i16_be(buffer, at)
        expiry_timestamp_ms: int = read_i64_be(buffer, at + 2)
        throttle_time_ms: int = read_i32_be(buffer, at + 10)
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = ExpireDelegationTokenResponse(error_code, expiry_timestamp_ms, throttle_time_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ExpireDelegationTokenResponse:
        reader = Reader(data)
        message = ExpireDelegationTokenResponse.read(reader, version)
        reader.expect_end()
        return message
