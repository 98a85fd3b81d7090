"""@generated from schemas/message/ControlledShutdownRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ControlledShutdownRequest(Message):
    NAME: ClassVar[str] = "ControlledShutdownRequest"
    API_KEY: ClassVar[int] = 7
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3
    LISTENERS: ClassVar[tuple[str, ...]] = ("zkBroker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64", versions=(2, 32767), default=-1, ignorable=True),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("ControlledShutdownRequest", version)
        write_i32_be(writer, self.broker_id)
        if version >= 2:
            write_i64_be(writer, self.broker_epoch)
        if version >= 3:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ControlledShutdownRequest:
        if version < 0 or version > 3:
            raise cannot_read("ControlledShutdownRequest", version)
        broker_id: int = reader.read_int32()
        broker_epoch: int = -1
        if version >= 2:
            broker_epoch = reader.read_int64()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            unknown = reader.read_unknown_tagged_fields()
        message = ControlledShutdownRequest(broker_id, broker_epoch)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ControlledShutdownRequest:
        reader = Reader(data)
        message = ControlledShutdownRequest.read(reader, version)
        reader.expect_end()
        return message
