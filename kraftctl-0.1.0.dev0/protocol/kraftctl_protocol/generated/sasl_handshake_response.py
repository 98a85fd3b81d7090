"""@generated from schemas/message/SaslHandshakeResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_string,
)


@mypyc_attr(acyclic=True, free_list_len=1)
class SaslHandshakeResponse(Message):
    NAME: ClassVar[str] = "SaslHandshakeResponse"
    API_KEY: ClassVar[int] = 17
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("mechanisms", "Mechanisms", "[]string", default=()),
    )

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: list[str] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.mechanisms: list[str] = [] if mechanisms is EMPTY else mechanisms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("SaslHandshakeResponse", version)
        write_i16_be(writer, self.error_code)
        write_i32_be(writer, len(self.mechanisms))
        for mechanisms_item in self.mechanisms:
            write_string(writer, mechanisms_item)
        if self.unknown_tagged_fields:
            raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> SaslHandshakeResponse:
        if version < 0 or version > 1:
            raise cannot_read("SaslHandshakeResponse", version)
        error_code: int = reader.read_int16()
        mechanisms: list[str] = [reader.read_string() for _ in range(reader.read_array_length(2, 10))]
        message = SaslHandshakeResponse(error_code, mechanisms)
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> SaslHandshakeResponse:
        reader = Reader(data)
        message = SaslHandshakeResponse.read(reader, version)
        reader.expect_end()
        return message
