"""@generated from schemas/message/EnvelopeRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_bytes,
    write_compact_nullable_bytes,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class EnvelopeRequest(Message):
    NAME: ClassVar[str] = "EnvelopeRequest"
    API_KEY: ClassVar[int] = 58
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("request_data", "RequestData", "bytes", default=b''),
        Field("request_principal", "RequestPrincipal", "bytes", nullable=(0, 32767), default=b''),
        Field("client_host_address", "ClientHostAddress", "bytes", default=b''),
    )

    def __init__(
        self,
        request_data: bytes = b'',
        request_principal: bytes | None = b'',
        client_host_address: bytes = b'',
    ) -> None:
        self.request_data: bytes = request_data
        self.request_principal: bytes | None = request_principal
        self.client_host_address: bytes = client_host_address
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("EnvelopeRequest", version)
        write_compact_bytes(writer, self.request_data)
        write_compact_nullable_bytes(writer, self.request_principal)
        write_compact_bytes(writer, self.client_host_address)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> EnvelopeRequest:
        if version != 0:
            raise cannot_read("EnvelopeRequest", version)
        request_data: bytes = reader.read_compact_bytes()
        request_principal: bytes | None = reader.read_compact_nullable_bytes()
        client_host_address: bytes = reader.read_compact_bytes()
        unknown = reader.read_unknown_tagged_fields()
        message = EnvelopeRequest(request_data, request_principal, client_host_address)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> EnvelopeRequest:
        reader = Reader(data)
        message = EnvelopeRequest.read(reader, version)
        reader.expect_end()
        return message
