"""@generated from schemas/message/SaslHandshakeRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_string,
)


@mypyc_attr(acyclic=True, free_list_len=1)
class SaslHandshakeRequest(Message):
    NAME: ClassVar[str] = "SaslHandshakeRequest"
    API_KEY: ClassVar[int] = 17
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 32767
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("mechanism", "Mechanism", "string", default=""),
    )

    def __init__(
        self,
        mechanism: str = "",
    ) -> None:
        self.mechanism: str = mechanism
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("SaslHandshakeRequest", version)
        write_string(writer, self.mechanism)
        if self.unknown_tagged_fields:
            raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> SaslHandshakeRequest:
        if version < 0 or version > 1:
            raise cannot_read("SaslHandshakeRequest", version)
        mechanism: str = reader.read_string()
        message = SaslHandshakeRequest(mechanism)
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> SaslHandshakeRequest:
        reader = Reader(data)
        message = SaslHandshakeRequest.read(reader, version)
        reader.expect_end()
        return message
