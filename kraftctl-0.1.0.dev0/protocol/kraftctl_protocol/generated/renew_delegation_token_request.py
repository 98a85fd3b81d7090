"""@generated from schemas/message/RenewDelegationTokenRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_bytes,
    write_compact_bytes,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class RenewDelegationTokenRequest(Message):
    NAME: ClassVar[str] = "RenewDelegationTokenRequest"
    API_KEY: ClassVar[int] = 39
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("hmac", "Hmac", "bytes", default=b''),
        Field("renew_period_ms", "RenewPeriodMs", "int64"),
    )

    def __init__(
        self,
        hmac: bytes = b'',
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac: bytes = hmac
        self.renew_period_ms: int = renew_period_ms
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("RenewDelegationTokenRequest", version)
        if version >= 2:
            write_compact_bytes(writer, self.hmac)
        else:
            write_bytes(writer, self.hmac)
        write_i64_be(writer, self.renew_period_ms)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> RenewDelegationTokenRequest:
        if version < 0 or version > 2:
            raise cannot_read("RenewDelegationTokenRequest", version)
        hmac: bytes = reader.read_compact_bytes() if version >= 2 else reader.read_bytes()
        renew_period_ms: int = reader.read_int64()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = RenewDelegationTokenRequest(hmac, renew_period_ms)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RenewDelegationTokenRequest:
        reader = Reader(data)
        message = RenewDelegationTokenRequest.read(reader, version)
        reader.expect_end()
        return message
