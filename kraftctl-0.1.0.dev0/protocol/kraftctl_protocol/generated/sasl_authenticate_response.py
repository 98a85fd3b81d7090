"""@generated from schemas/message/SaslAuthenticateResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_bytes,
    write_compact_bytes,
    write_compact_nullable_string,
    write_nullable_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class SaslAuthenticateResponse(Message):
    NAME: ClassVar[str] = "SaslAuthenticateResponse"
    API_KEY: ClassVar[int] = 36
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("auth_bytes", "AuthBytes", "bytes", default=b''),
        Field("session_lifetime_ms", "SessionLifetimeMs", "int64", versions=(1, 32767), ignorable=True),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b'',
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.auth_bytes: bytes = auth_bytes
        self.session_lifetime_ms: int = session_lifetime_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("SaslAuthenticateResponse", version)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 2:
            write_compact_bytes(writer, self.auth_bytes)
        else:
            write_bytes(writer, self.auth_bytes)
        if version >= 1:
            write_i64_be(writer, self.session_lifetime_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> SaslAuthenticateResponse:
        if version < 0 or version > 2:
            raise cannot_read("SaslAuthenticateResponse", version)
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        auth_bytes: bytes = reader.read_compact_bytes() if version >= 2 else reader.read_bytes()
        session_lifetime_ms: int = 0
        if version >= 1:
            session_lifetime_ms = reader.read_int64()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = SaslAuthenticateResponse(error_code, error_message, auth_bytes, session_lifetime_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> SaslAuthenticateResponse:
        reader = Reader(data)
        message = SaslAuthenticateResponse.read(reader, version)
        reader.expect_end()
        return message
