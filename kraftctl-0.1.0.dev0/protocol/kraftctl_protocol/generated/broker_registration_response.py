"""@generated from schemas/message/BrokerRegistrationResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class BrokerRegistrationResponse(Message):
    NAME: ClassVar[str] = "BrokerRegistrationResponse"
    API_KEY: ClassVar[int] = 62
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("broker_epoch", "BrokerEpoch", "int64", default=-1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.broker_epoch: int = broker_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 4:
            raise cannot_write("BrokerRegistrationResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_i64_be(writer, self.broker_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerRegistrationResponse:
        if version < 0 or version > 4:
            raise cannot_read("BrokerRegistrationResponse", version)
        at = reader.take(14)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        broker_epoch: int = read_i64_be(buffer, at + 6)
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerRegistrationResponse(throttle_time_ms, error_code, broker_epoch)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BrokerRegistrationResponse:
        reader = Reader(data)
        message = BrokerRegistrationResponse.read(reader, version)
        reader.expect_end()
        return message
