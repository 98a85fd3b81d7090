"""@generated from schemas/message/DescribeDelegationTokenResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_bytes,
    write_compact_bytes,
    write_compact_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class DescribedDelegationTokenRenewer(Message):
    NAME: ClassVar[str] = "DescribedDelegationTokenRenewer"
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
    def read(reader: Reader, version: i64) -> DescribedDelegationTokenRenewer:
        if reader.position >= reader.pause_at:
            reader.pause()
        principal_type: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        principal_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribedDelegationTokenRenewer(principal_type, principal_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class DescribedDelegationToken(Message):
    NAME: ClassVar[str] = "DescribedDelegationToken"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("principal_type", "PrincipalType", "string", default=""),
        Field("principal_name", "PrincipalName", "string", default=""),
        Field("token_requester_principal_type", "TokenRequesterPrincipalType", "string", versions=(3, 32767), default=""),
        Field("token_requester_principal_name", "TokenRequesterPrincipalName", "string", versions=(3, 32767), default=""),
        Field("issue_timestamp", "IssueTimestamp", "int64"),
        Field("expiry_timestamp", "ExpiryTimestamp", "int64"),
        Field("max_timestamp", "MaxTimestamp", "int64"),
        Field("token_id", "TokenId", "string", default=""),
        Field("hmac", "Hmac", "bytes", default=b''),
        Field("renewers", "Renewers", "[]DescribedDelegationTokenRenewer", default=(), struct=DescribedDelegationTokenRenewer),
    )

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b'',
        renewers: list[DescribedDelegationTokenRenewer] = EMPTY,
    ) -> None:
        self.principal_type: str = principal_type
        self.principal_name: str = principal_name
        self.token_requester_principal_type: str = token_requester_principal_type
        self.token_requester_principal_name: str = token_requester_principal_name
        self.issue_timestamp: int = issue_timestamp
        self.expiry_timestamp: int = expiry_timestamp
        self.max_timestamp: int = max_timestamp
        self.token_id: str = token_id
        self.hmac: bytes = hmac
        self.renewers: list[DescribedDelegationTokenRenewer] = [] if renewers is EMPTY else renewers
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
        if version >= 3:
            write_compact_string(writer, self.token_requester_principal_type)
        elif self.token_requester_principal_type != "":
            raise missing_field("TokenRequesterPrincipalType", version)
        if version >= 3:
            write_compact_string(writer, self.token_requester_principal_name)
        elif self.token_requester_principal_name != "":
            raise missing_field("TokenRequesterPrincipalName", version)
        write_i64_be(writer, self.issue_timestamp)
        write_i64_be(writer, self.expiry_timestamp)
        write_i64_be(writer, self.max_timestamp)
        if version >= 2:
            write_compact_string(writer, self.token_id)
        else:
            write_string(writer, self.token_id)
        if version >= 2:
            write_compact_bytes(writer, self.hmac)
        else:
            write_bytes(writer, self.hmac)
        if version >= 2:
            write_uvarint(writer, len(self.renewers) + 1)
        else:
            write_i32_be(writer, len(self.renewers))
        for renewers_item in self.renewers:
            renewers_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribedDelegationToken:
        if reader.position >= reader.pause_at:
            reader.pause()
        principal_type: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        principal_name: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        token_requester_principal_type: str = ""
        if version >= 3:
            token_requester_principal_type = reader.read_compact_string()
        token_requester_principal_name: str = ""
        if version >= 3:
            token_requester_principal_name = reader.read_compact_string()
        at = reader.take(24)
        buffer = reader.buffer
        issue_timestamp: int = read_i64_be(buffer, at)
        expiry_timestamp: int = read_i64_be(buffer, at + 8)
        max_timestamp: int = read_i64_be(buffer, at + 16)
        token_id: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        hmac: bytes = reader.read_compact_bytes() if version >= 2 else reader.read_bytes()
        renewers: list[DescribedDelegationTokenRenewer] = [DescribedDelegationTokenRenewer.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 2 else [DescribedDelegationTokenRenewer.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribedDelegationToken(principal_type, principal_name, token_requester_principal_type, token_requester_principal_name, issue_timestamp, expiry_timestamp, max_timestamp, token_id, hmac, renewers)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeDelegationTokenResponse(Message):
    NAME: ClassVar[str] = "DescribeDelegationTokenResponse"
    API_KEY: ClassVar[int] = 41
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("tokens", "Tokens", "[]DescribedDelegationToken", default=(), struct=DescribedDelegationToken),
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
    )

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = EMPTY,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.tokens: list[DescribedDelegationToken] = [] if tokens is EMPTY else tokens
        self.throttle_time_ms: int = throttle_time_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("DescribeDelegationTokenResponse", version)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_uvarint(writer, len(self.tokens) + 1)
        else:
            write_i32_be(writer, len(self.tokens))
        for tokens_item in self.tokens:
            tokens_item.write(writer, version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeDelegationTokenResponse:
        if version < 0 or version > 3:
            raise cannot_read("DescribeDelegationTokenResponse", version)
        error_code: int = reader.read_int16()
        tokens: list[DescribedDelegationToken] = [DescribedDelegationToken.read(reader, version) for _ in range(reader.read_compact_array_length(30, 290))] if version >= 2 else [DescribedDelegationToken.read(reader, version) for _ in range(reader.read_array_length(38, 290))]
        throttle_time_ms: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeDelegationTokenResponse(error_code, tokens, throttle_time_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeDelegationTokenResponse:
        reader = Reader(data)
        message = DescribeDelegationTokenResponse.read(reader, version)
        reader.expect_end()
        return message
