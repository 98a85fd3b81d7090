"""@generated from schemas/metadata/NoOpRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class NoOpRecord(Message):
    NAME: ClassVar[str] = "NoOpRecord"
    API_KEY: ClassVar[int] = 20
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
    )

    def __init__(self) -> None:
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("NoOpRecord", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> NoOpRecord:
        if version != 0:
            raise cannot_read("NoOpRecord", version)
        unknown = reader.read_unknown_tagged_fields()
        message = NoOpRecord()
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> NoOpRecord:
        reader = Reader(data)
        message = NoOpRecord.read(reader, version)
        reader.expect_end()
        return message
