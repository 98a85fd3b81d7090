"""@generated from schemas/metadata/RemoveDelegationTokenRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class RemoveDelegationTokenRecord(Message):
    NAME: ClassVar[str] = "RemoveDelegationTokenRecord"
    API_KEY: ClassVar[int] = 26
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("token_id", "TokenId", "string", default=""),
    )

    def __init__(
        self,
        token_id: str = "",
    ) -> None:
        self.token_id: str = token_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("RemoveDelegationTokenRecord", version)
        write_compact_string(writer, self.token_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RemoveDelegationTokenRecord:
        if version != 0:
            raise cannot_read("RemoveDelegationTokenRecord", version)
        token_id: str = reader.read_compact_string()
        unknown = reader.read_unknown_tagged_fields()
        message = RemoveDelegationTokenRecord(token_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RemoveDelegationTokenRecord:
        reader = Reader(data)
        message = RemoveDelegationTokenRecord.read(reader, version)
        reader.expect_end()
        return message
