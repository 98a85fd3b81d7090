"""@generated from schemas/metadata/RemoveUserScramCredentialRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
    write_int8,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class RemoveUserScramCredentialRecord(Message):
    NAME: ClassVar[str] = "RemoveUserScramCredentialRecord"
    API_KEY: ClassVar[int] = 22
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("mechanism", "Mechanism", "int8"),
    )

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name: str = name
        self.mechanism: int = mechanism
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("RemoveUserScramCredentialRecord", version)
        write_compact_string(writer, self.name)
        write_int8(writer, self.mechanism)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RemoveUserScramCredentialRecord:
        if version != 0:
            raise cannot_read("RemoveUserScramCredentialRecord", version)
        name: str = reader.read_compact_string()
        mechanism: int = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = RemoveUserScramCredentialRecord(name, mechanism)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RemoveUserScramCredentialRecord:
        reader = Reader(data)
        message = RemoveUserScramCredentialRecord.read(reader, version)
        reader.expect_end()
        return message
