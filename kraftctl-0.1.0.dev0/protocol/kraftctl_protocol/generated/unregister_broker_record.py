"""@generated from schemas/metadata/UnregisterBrokerRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class UnregisterBrokerRecord(Message):
    NAME: ClassVar[str] = "UnregisterBrokerRecord"
    API_KEY: ClassVar[int] = 1
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64"),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = 0,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UnregisterBrokerRecord", version)
        write_i32_be(writer, self.broker_id)
        write_i64_be(writer, self.broker_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UnregisterBrokerRecord:
        if version != 0:
            raise cannot_read("UnregisterBrokerRecord", version)
        at = reader.take(12)
        buffer = reader.buffer
        broker_id: int = read_i32_be(buffer, at)
        broker_epoch: int = read_i64_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = UnregisterBrokerRecord(broker_id, broker_epoch)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UnregisterBrokerRecord:
        reader = Reader(data)
        message = UnregisterBrokerRecord.read(reader, version)
        reader.expect_end()
        return message
