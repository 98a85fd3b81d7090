"""@generated from schemas/message/DescribeDelegationTokenRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class DescribeDelegationTokenOwner(Message):
    NAME: ClassVar[str] = "DescribeDelegationTokenOwner"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("principal_type", "PrincipalType", "string", default=""),
        Field("principal_name", "PrincipalName", "string", default=""),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.principal_type)
        else:
            write_string(writer, self.principal_type)
        if version >= 2:
            write_compact_string(writer, self.principal_name)
        else:
            write_string(writer, self.principal_name)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeDelegationTokenOwner:
        if reader.position >= reader.pause_at:
            reader.pause()
        principal_type: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        principal_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeDelegationTokenOwner(principal_type, principal_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeDelegationTokenRequest(Message):
    NAME: ClassVar[str] = "DescribeDelegationTokenRequest"
    API_KEY: ClassVar[int] = 41
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("owners", "Owners", "[]DescribeDelegationTokenOwner", nullable=(0, 32767), default=(), struct=DescribeDelegationTokenOwner),
    )

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = EMPTY,
    ) -> None:
        self.owners: list[DescribeDelegationTokenOwner] | None = [] if owners is EMPTY else owners
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("DescribeDelegationTokenRequest", version)
        if self.owners is None:
            if version >= 2:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 2:
                write_uvarint(writer, len(self.owners) + 1)
            else:
                write_i32_be(writer, len(self.owners))
            for owners_item in self.owners:
                owners_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeDelegationTokenRequest:
        if version < 0 or version > 3:
            raise cannot_read("DescribeDelegationTokenRequest", version)
        owners: list[DescribeDelegationTokenOwner] | None = (None if (length := reader.read_compact_nullable_array_length(3, 66)) < 0 else [DescribeDelegationTokenOwner.read(reader, version) for _ in range(length)]) if version >= 2 else (None if (length := reader.read_nullable_array_length(4, 66)) < 0 else [DescribeDelegationTokenOwner.read(reader, version) for _ in range(length)])
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeDelegationTokenRequest(owners)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeDelegationTokenRequest:
        reader = Reader(data)
        message = DescribeDelegationTokenRequest.read(reader, version)
        reader.expect_end()
        return message
