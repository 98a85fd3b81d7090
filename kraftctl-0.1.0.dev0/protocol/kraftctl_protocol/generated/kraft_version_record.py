"""@generated from schemas/message/KRaftVersionRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, write_i16_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class KRaftVersionRecord(Message):
    NAME: ClassVar[str] = "KRaftVersionRecord"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("version", "Version", "int16"),
        Field("kraft_version", "KRaftVersion", "int16"),
    )

    def __init__(
        self,
        version: int = 0,
        kraft_version: int = 0,
    ) -> None:
        self.version: int = version
        self.kraft_version: int = kraft_version
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("KRaftVersionRecord", version)
        write_i16_be(writer, self.version)
        write_i16_be(writer, self.kraft_version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> KRaftVersionRecord:
        if version != 0:
            raise cannot_read("KRaftVersionRecord", version)
        at = reader.take(4)
        buffer = reader.buffer
        version_: int = read_i16_be(buffer, at)
        kraft_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = KRaftVersionRecord(version_, kraft_version)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> KRaftVersionRecord:
        reader = Reader(data)
        message = KRaftVersionRecord.read(reader, version)
        reader.expect_end()
        return message
