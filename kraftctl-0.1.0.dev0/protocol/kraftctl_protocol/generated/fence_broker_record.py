"""@generated from schemas/metadata/FenceBrokerRecord.json by `python -m kraftctl_codegen`; edit that instead."""

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
class FenceBrokerRecord(Message):
    NAME: ClassVar[str] = "FenceBrokerRecord"
    API_KEY: ClassVar[int] = 7
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("id", "Id", "int32"),
        Field("epoch", "Epoch", "int64"),
    )

    def __init__(
        self,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id: int = id
        self.epoch: int = epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("FenceBrokerRecord", version)
        write_i32_be(writer, self.id)
        write_i64_be(writer, self.epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> FenceBrokerRecord:
        if version != 0:
            raise cannot_read("FenceBrokerRecord", version)
        at = reader.take(12)
        buffer = reader.buffer
        id: int = read_i32_be(buffer, at)
        epoch: int = read_i64_be(buffer, at + 4)
        unknown = reader.read_unknown_tagged_fields()
        message = FenceBrokerRecord(id, epoch)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FenceBrokerRecord:
        reader = Reader(data)
        message = FenceBrokerRecord.read(reader, version)
        reader.expect_end()
        return message
