"""@generated from schemas/message/BrokerHeartbeatResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class BrokerHeartbeatResponse(Message):
    NAME: ClassVar[str] = "BrokerHeartbeatResponse"
    API_KEY: ClassVar[int] = 63
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("is_caught_up", "IsCaughtUp", "bool", default=False),
        Field("is_fenced", "IsFenced", "bool", default=True),
        Field("should_shut_down", "ShouldShutDown", "bool", default=False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.is_caught_up: bool = is_caught_up
        self.is_fenced: bool = is_fenced
        self.should_shut_down: bool = should_shut_down
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("BrokerHeartbeatResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        writer.append(1 if self.is_caught_up else 0)
        writer.append(1 if self.is_fenced else 0)
        writer.append(1 if self.should_shut_down else 0)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerHeartbeatResponse:
        if version < 0 or version > 2:
            raise cannot_read("BrokerHeartbeatResponse", version)
        at = reader.take(9)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        is_caught_up: bool = buffer[at + 6] != 0
        is_fenced: bool = buffer[at + 7] != 0
        should_shut_down: bool = buffer[at + 8] != 0
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerHeartbeatResponse(throttle_time_ms, error_code, is_caught_up, is_fenced, should_shut_down)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BrokerHeartbeatResponse:
        reader = Reader(data)
        message = BrokerHeartbeatResponse.read(reader, version)
        reader.expect_end()
        return message
