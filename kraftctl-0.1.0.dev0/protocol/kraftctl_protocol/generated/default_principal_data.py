"""@generated from schemas/message/DefaultPrincipalData.json by `python -m kraftctl_codegen`; edit that instead."""

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
class DefaultPrincipalData(Message):
    NAME: ClassVar[str] = "DefaultPrincipalData"
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("type", "Type", "string", default=""),
        Field("name", "Name", "string", default=""),
        Field("token_authenticated", "TokenAuthenticated", "bool", default=False),
    )

    def __init__(
        self,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type: str = type
        self.name: str = name
        self.token_authenticated: bool = token_authenticated
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("DefaultPrincipalData", version)
        write_compact_string(writer, self.type)
        write_compact_string(writer, self.name)
        writer.append(1 if self.token_authenticated else 0)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DefaultPrincipalData:
        if version != 0:
            raise cannot_read("DefaultPrincipalData", version)
        type: str = reader.read_compact_string()
        name: str = reader.read_compact_string()
        token_authenticated: bool = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = DefaultPrincipalData(type, name, token_authenticated)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DefaultPrincipalData:
        reader = Reader(data)
        message = DefaultPrincipalData.read(reader, version)
        reader.expect_end()
        return message
