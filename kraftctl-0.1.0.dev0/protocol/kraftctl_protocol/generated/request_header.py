"""@generated from schemas/message/RequestHeader.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_nullable_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class RequestHeader(Message):
    NAME: ClassVar[str] = "RequestHeader"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("request_api_key", "RequestApiKey", "int16"),
        Field("request_api_version", "RequestApiVersion", "int16"),
        Field("correlation_id", "CorrelationId", "int32"),
        Field("client_id", "ClientId", "string", versions=(1, 32767), nullable=(1, 32767), default=""),
    )

    def __init__(
        self,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
    ) -> None:
        self.request_api_key: int = request_api_key
        self.request_api_version: int = request_api_version
        self.correlation_id: int = correlation_id
        self.client_id: str | None = client_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("RequestHeader", version)
        write_i16_be(writer, self.request_api_key)
        write_i16_be(writer, self.request_api_version)
        write_i32_be(writer, self.correlation_id)
        if version >= 1:
            write_nullable_string(writer, self.client_id)
        elif self.client_id != "":
            raise missing_field("ClientId", version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> RequestHeader:
        if version < 0 or version > 2:
            raise cannot_read("RequestHeader", version)
        at = reader.take(8)
        buffer = reader.buffer
        request_api_key: int = read_i16_be(buffer, at)
        request_api_version: int = read_i16_be(buffer, at + 2)
        correlation_id: int = read_i32_be(buffer, at + 4)
        client_id: str | None = ""
        if version >= 1:
            client_id = reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = RequestHeader(request_api_key, request_api_version, correlation_id, client_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RequestHeader:
        reader = Reader(data)
        message = RequestHeader.read(reader, version)
        reader.expect_end()
        return message
