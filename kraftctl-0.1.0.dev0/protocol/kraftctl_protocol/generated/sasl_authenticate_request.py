"""@generated from schemas/message/SaslAuthenticateRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_bytes,
    write_compact_bytes,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class SaslAuthenticateRequest(Message):
    NAME: ClassVar[str] = "SaslAuthenticateRequest"
    API_KEY: ClassVar[int] = 36
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("auth_bytes", "AuthBytes", "bytes", default=b''),
    )

    def __init__(
        self,
        auth_bytes: bytes = b'',
    ) -> None:
        self.auth_bytes: bytes = auth_bytes
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("SaslAuthenticateRequest", version)
        if version >= 2:
            write_compact_bytes(writer, self.auth_bytes)
        else:
            write_bytes(writer, self.auth_bytes)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> SaslAuthenticateRequest:
        if version < 0 or version > 2:
            raise cannot_read("SaslAuthenticateRequest", version)
        auth_bytes: bytes = reader.read_compact_bytes() if version >= 2 else reader.read_bytes()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = SaslAuthenticateRequest(auth_bytes)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> SaslAuthenticateRequest:
        reader = Reader(data)
        message = SaslAuthenticateRequest.read(reader, version)
        reader.expect_end()
        return message
