"""@generated from schemas/message/DescribeUserScramCredentialsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_int8,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class CredentialInfo(Message):
    NAME: ClassVar[str] = "CredentialInfo"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("mechanism", "Mechanism", "int8"),
        Field("iterations", "Iterations", "int32"),
    )

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism: int = mechanism
        self.iterations: int = iterations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_int8(writer, self.mechanism)
        write_i32_be(writer, self.iterations)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> CredentialInfo:
        if reader.position >= reader.pause_at:
            reader.pause()
        mechanism: int = reader.read_int8()
        iterations: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = CredentialInfo(mechanism, iterations)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DescribeUserScramCredentialsResult(Message):
    NAME: ClassVar[str] = "DescribeUserScramCredentialsResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("user", "User", "string", default=""),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("credential_infos", "CredentialInfos", "[]CredentialInfo", default=(), struct=CredentialInfo),
    )

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: list[CredentialInfo] = EMPTY,
    ) -> None:
        self.user: str = user
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.credential_infos: list[CredentialInfo] = [] if credential_infos is EMPTY else credential_infos
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.user)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        write_uvarint(writer, len(self.credential_infos) + 1)
        for credential_infos_item in self.credential_infos:
            credential_infos_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeUserScramCredentialsResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        user: str = reader.read_compact_string()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string()
        credential_infos: list[CredentialInfo] = [CredentialInfo.read(reader, version) for _ in range(reader.read_compact_array_length(6, 66))]
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeUserScramCredentialsResult(user, error_code, error_message, credential_infos)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeUserScramCredentialsResponse(Message):
    NAME: ClassVar[str] = "DescribeUserScramCredentialsResponse"
    API_KEY: ClassVar[int] = 50
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("results", "Results", "[]DescribeUserScramCredentialsResult", default=(), struct=DescribeUserScramCredentialsResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[DescribeUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[DescribeUserScramCredentialsResult] = [] if results is EMPTY else results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("DescribeUserScramCredentialsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        write_uvarint(writer, len(self.results) + 1)
        for results_item in self.results:
            results_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeUserScramCredentialsResponse:
        if version != 0:
            raise cannot_read("DescribeUserScramCredentialsResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        results: list[DescribeUserScramCredentialsResult] = [DescribeUserScramCredentialsResult.read(reader, version) for _ in range(reader.read_compact_array_length(6, 146))]
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeUserScramCredentialsResponse(throttle_time_ms, error_code, error_message, results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeUserScramCredentialsResponse:
        reader = Reader(data)
        message = DescribeUserScramCredentialsResponse.read(reader, version)
        reader.expect_end()
        return message
