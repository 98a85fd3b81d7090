"""@generated from schemas/message/UnregisterBrokerRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
class UnregisterBrokerRequest(Message):
    NAME: ClassVar[str] = "UnregisterBrokerRequest"
    API_KEY: ClassVar[int] = 64
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
    )

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id: int = broker_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UnregisterBrokerRequest", version)
        write_i32_be(writer, self.broker_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UnregisterBrokerRequest:
        if version != 0:
            raise cannot_read("UnregisterBrokerRequest", version)
        broker_id: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = UnregisterBrokerRequest(broker_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UnregisterBrokerRequest:
        reader = Reader(data)
        message = UnregisterBrokerRequest.read(reader, version)
        reader.expect_end()
        return message
