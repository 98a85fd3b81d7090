"""@generated from schemas/metadata/RemoveAccessControlEntryRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_uuid,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True, free_list_len=1)
class RemoveAccessControlEntryRecord(Message):
    NAME: ClassVar[str] = "RemoveAccessControlEntryRecord"
    API_KEY: ClassVar[int] = 19
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("id", "Id", "uuid", default=ZERO_UUID),
    )

    def __init__(
        self,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.id: bytes = id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("RemoveAccessControlEntryRecord", version)
        write_uuid(writer, self.id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RemoveAccessControlEntryRecord:
        if version != 0:
            raise cannot_read("RemoveAccessControlEntryRecord", version)
        id: bytes = reader.read_uuid()
        unknown = reader.read_unknown_tagged_fields()
        message = RemoveAccessControlEntryRecord(id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RemoveAccessControlEntryRecord:
        reader = Reader(data)
        message = RemoveAccessControlEntryRecord.read(reader, version)
        reader.expect_end()
        return message
