"""@generated from schemas/message/AlterUserScramCredentialsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class AlterUserScramCredentialsResult(Message):
    NAME: ClassVar[str] = "AlterUserScramCredentialsResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("user", "User", "string", default=""),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.user)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterUserScramCredentialsResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        user: str = reader.read_compact_string()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = AlterUserScramCredentialsResult(user, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterUserScramCredentialsResponse(Message):
    NAME: ClassVar[str] = "AlterUserScramCredentialsResponse"
    API_KEY: ClassVar[int] = 51
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("results", "Results", "[]AlterUserScramCredentialsResult", default=(), struct=AlterUserScramCredentialsResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AlterUserScramCredentialsResult] = [] if results is EMPTY else results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AlterUserScramCredentialsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_uvarint(writer, len(self.results) + 1)
        for results_item in self.results:
            results_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterUserScramCredentialsResponse:
        if version != 0:
            raise cannot_read("AlterUserScramCredentialsResponse", version)
        throttle_time_ms: int = reader.read_int32()
        results: list[AlterUserScramCredentialsResult] = [AlterUserScramCredentialsResult.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = AlterUserScramCredentialsResponse(throttle_time_ms, results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterUserScramCredentialsResponse:
        reader = Reader(data)
        message = AlterUserScramCredentialsResponse.read(reader, version)
        reader.expect_end()
        return message
