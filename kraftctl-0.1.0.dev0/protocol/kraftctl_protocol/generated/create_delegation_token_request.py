"""@generated from schemas/message/CreateDelegationTokenRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class CreatableRenewers(Message):
    NAME: ClassVar[str] = "CreatableRenewers"
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
    def read(reader: Reader, version: i64) -> CreatableRenewers:
        if reader.position >= reader.pause_at:
            reader.pause()
        principal_type: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        principal_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreatableRenewers(principal_type, principal_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class CreateDelegationTokenRequest(Message):
    NAME: ClassVar[str] = "CreateDelegationTokenRequest"
    API_KEY: ClassVar[int] = 38
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("owner_principal_type", "OwnerPrincipalType", "string", versions=(3, 32767), nullable=(3, 32767), default=""),
        Field("owner_principal_name", "OwnerPrincipalName", "string", versions=(3, 32767), nullable=(3, 32767), default=""),
        Field("renewers", "Renewers", "[]CreatableRenewers", default=(), struct=CreatableRenewers),
        Field("max_lifetime_ms", "MaxLifetimeMs", "int64"),
    )

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: list[CreatableRenewers] = EMPTY,
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type: str | None = owner_principal_type
        self.owner_principal_name: str | None = owner_principal_name
        self.renewers: list[CreatableRenewers] = [] if renewers is EMPTY else renewers
        self.max_lifetime_ms: int = max_lifetime_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("CreateDelegationTokenRequest", version)
        if version >= 3:
            write_compact_nullable_string(writer, self.owner_principal_type)
        elif self.owner_principal_type != "":
            raise missing_field("OwnerPrincipalType", version)
        if version >= 3:
            write_compact_nullable_string(writer, self.owner_principal_name)
        elif self.owner_principal_name != "":
            raise missing_field("OwnerPrincipalName", version)
        if version >= 2:
            write_uvarint(writer, len(self.renewers) + 1)
        else:
            write_i32_be(writer, len(self.renewers))
        for renewers_item in self.renewers:
            renewers_item.write(writer, version)
        write_i64_be(writer, self.max_lifetime_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> CreateDelegationTokenRequest:
        if version < 0 or version > 3:
            raise cannot_read("CreateDelegationTokenRequest", version)
        owner_principal_type: str | None = ""
        if version >= 3:
            owner_principal_type = reader.read_compact_nullable_string()
        owner_principal_name: str | None = ""
        if version >= 3:
            owner_principal_name = reader.read_compact_nullable_string()
        renewers: list[CreatableRenewers] = [CreatableRenewers.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 2 else [CreatableRenewers.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        max_lifetime_ms: int = reader.read_int64()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = CreateDelegationTokenRequest(owner_principal_type, owner_principal_name, renewers, max_lifetime_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> CreateDelegationTokenRequest:
        reader = Reader(data)
        message = CreateDelegationTokenRequest.read(reader, version)
        reader.expect_end()
        return message
