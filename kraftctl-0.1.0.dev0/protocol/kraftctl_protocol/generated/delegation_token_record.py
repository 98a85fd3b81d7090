"""@generated from schemas/metadata/DelegationTokenRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i64_be, write_i64_be
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


@mypyc_attr(acyclic=True, free_list_len=1)
class DelegationTokenRecord(Message):
    NAME: ClassVar[str] = "DelegationTokenRecord"
    API_KEY: ClassVar[int] = 10
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("owner", "Owner", "string", default=""),
        Field("requester", "Requester", "string", default=""),
        Field("renewers", "Renewers", "[]string", default=()),
        Field("issue_timestamp", "IssueTimestamp", "int64"),
        Field("max_timestamp", "MaxTimestamp", "int64"),
        Field("expiration_timestamp", "ExpirationTimestamp", "int64"),
        Field("token_id", "TokenId", "string", default=""),
    )

    def __init__(
        self,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = EMPTY,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
    ) -> None:
        self.owner: str = owner
        self.requester: str = requester
        self.renewers: list[str] = [] if renewers is EMPTY else renewers
        self.issue_timestamp: int = issue_timestamp
        self.max_timestamp: int = max_timestamp
        self.expiration_timestamp: int = expiration_timestamp
        self.token_id: str = token_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("DelegationTokenRecord", version)
        write_compact_string(writer, self.owner)
        write_compact_string(writer, self.requester)
        write_uvarint(writer, len(self.renewers) + 1)
        for renewers_item in self.renewers:
            write_compact_string(writer, renewers_item)
        write_i64_be(writer, self.issue_timestamp)
        write_i64_be(writer, self.max_timestamp)
        write_i64_be(writer, self.expiration_timestamp)
        write_compact_string(writer, self.token_id)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DelegationTokenRecord:
        if version != 0:
            raise cannot_read("DelegationTokenRecord", version)
        owner: str = reader.read_compact_string()
        requester: str = reader.read_compact_string()
        renewers: list[str] = [reader.read_compact_string() for _ in range(reader.read_compact_array_length(1, 10))]
        at = reader.take(24)
        buffer = reader.buffer
        issue_timestamp: int = read_i64_be(buffer, at)
        max_timestamp: int = read_i64_be(buffer, at + 8)
        expiration_timestamp: int = read_i64_be(buffer, at + 16)
        token_id: str = reader.read_compact_string()
        unknown = reader.read_unknown_tagged_fields()
        message = DelegationTokenRecord(owner, requester, renewers, issue_timestamp, max_timestamp, expiration_timestamp, token_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DelegationTokenRecord:
        reader = Reader(data)
        message = DelegationTokenRecord.read(reader, version)
        reader.expect_end()
        return message
