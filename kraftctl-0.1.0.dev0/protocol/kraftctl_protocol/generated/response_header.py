"""@generated from schemas/message/ResponseHeader.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ResponseHeader(Message):
    NAME: ClassVar[str] = "ResponseHeader"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("correlation_id", "CorrelationId", "int32"),
    )

    def __init__(
        self,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id: int = correlation_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("ResponseHeader", version)
        write_i32_be(writer, self.correlation_id)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ResponseHeader:
        if version < 0 or version > 1:
            raise cannot_read("ResponseHeader", version)
        correlation_id: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = ResponseHeader(correlation_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ResponseHeader:
        reader = Reader(data)
        message = ResponseHeader.read(reader, version)
        reader.expect_end()
        return message
