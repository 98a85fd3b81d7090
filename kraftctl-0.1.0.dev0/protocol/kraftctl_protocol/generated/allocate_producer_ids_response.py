"""@generated from schemas/message/AllocateProducerIdsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
class AllocateProducerIdsResponse(Message):
    NAME: ClassVar[str] = "AllocateProducerIdsResponse"
    API_KEY: ClassVar[int] = 67
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("producer_id_start", "ProducerIdStart", "int64"),
        Field("producer_id_len", "ProducerIdLen", "int32"),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.producer_id_start: int = producer_id_start
        self.producer_id_len: int = producer_id_len
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("AllocateProducerIdsResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_i64_be(writer, self.producer_id_start)
        write_i32_be(writer, self.producer_id_len)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> AllocateProducerIdsResponse:
        if version != 0:
            raise cannot_read("AllocateProducerIdsResponse", version)
        at = reader.take(18)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        producer_id_start: int = read_i64_be(buffer, at + 6)
        producer_id_len: int = read_i32_be(buffer, at + 14)
        unknown = reader.read_unknown_tagged_fields()
        message = AllocateProducerIdsResponse(throttle_time_ms, error_code, producer_id_start, producer_id_len)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AllocateProducerIdsResponse:
        reader = Reader(data)
        message = AllocateProducerIdsResponse.read(reader, version)
        reader.expect_end()
        return message
