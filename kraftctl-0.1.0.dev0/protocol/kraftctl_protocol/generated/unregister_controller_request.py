"""@generated from schemas/message/UnregisterControllerRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class UnregisterControllerRequest(Message):
    NAME: ClassVar[str] = "UnregisterControllerRequest"
    API_KEY: ClassVar[int] = 94
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("controller_id", "ControllerId", "int32"),
    )

    def __init__(
        self,
        controller_id: int = 0,
    ) -> None:
        self.controller_id: int = controller_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UnregisterControllerRequest", version)
        write_i32_be(writer, self.controller_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UnregisterControllerRequest:
        if version != 0:
            raise cannot_read("UnregisterControllerRequest", version)
        controller_id: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = UnregisterControllerRequest(controller_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UnregisterControllerRequest:
        reader = Reader(data)
        message = UnregisterControllerRequest.read(reader, version)
        reader.expect_end()
        return message
