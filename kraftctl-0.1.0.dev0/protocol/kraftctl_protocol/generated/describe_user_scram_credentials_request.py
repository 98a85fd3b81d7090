"""@generated from schemas/message/DescribeUserScramCredentialsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class UserName(Message):
    NAME: ClassVar[str] = "UserName"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
    )

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name: str = name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UserName:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        unknown = reader.read_unknown_tagged_fields()
        message = UserName(name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeUserScramCredentialsRequest(Message):
    NAME: ClassVar[str] = "DescribeUserScramCredentialsRequest"
    API_KEY: ClassVar[int] = 50
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("users", "Users", "[]UserName", nullable=(0, 32767), default=(), struct=UserName),
    )

    def __init__(
        self,
        users: list[UserName] | None = EMPTY,
    ) -> None:
        self.users: list[UserName] | None = [] if users is EMPTY else users
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("DescribeUserScramCredentialsRequest", version)
        if self.users is None:
            writer.append(0)
        else:
            write_uvarint(writer, len(self.users) + 1)
            for users_item in self.users:
                users_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeUserScramCredentialsRequest:
        if version != 0:
            raise cannot_read("DescribeUserScramCredentialsRequest", version)
        users: list[UserName] | None = None if (length := reader.read_compact_nullable_array_length(2, 58)) < 0 else [UserName.read(reader, version) for _ in range(length)]
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeUserScramCredentialsRequest(users)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeUserScramCredentialsRequest:
        reader = Reader(data)
        message = DescribeUserScramCredentialsRequest.read(reader, version)
        reader.expect_end()
        return message
