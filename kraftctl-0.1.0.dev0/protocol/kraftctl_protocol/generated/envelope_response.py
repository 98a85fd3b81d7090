"""@generated from schemas/message/EnvelopeResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_nullable_bytes,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class EnvelopeResponse(Message):
    NAME: ClassVar[str] = "EnvelopeResponse"
    API_KEY: ClassVar[int] = 58
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("response_data", "ResponseData", "bytes", nullable=(0, 32767), default=None),
        Field("error_code", "ErrorCode", "int16"),
    )

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data: bytes | None = response_data
        self.error_code: int = error_code
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("EnvelopeResponse", version)
        write_compact_nullable_bytes(writer, self.response_data)
        write_i16_be(writer, self.error_code)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> EnvelopeResponse:
        if version != 0:
            raise cannot_read("EnvelopeResponse", version)
        response_data: bytes | None = reader.read_compact_nullable_bytes()
        error_code: int = reader.read_int16()
        unknown = reader.read_unknown_tagged_fields()
        message = EnvelopeResponse(response_data, error_code)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> EnvelopeResponse:
        reader = Reader(data)
        message = EnvelopeResponse.read(reader, version)
        reader.expect_end()
        return message
