"""@generated from schemas/message/UpdateFeaturesResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class UpdatableFeatureResult(Message):
    NAME: ClassVar[str] = "UpdatableFeatureResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("feature", "Feature", "string", default=""),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature: str = feature
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.feature)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UpdatableFeatureResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        feature: str = reader.read_compact_string()
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = UpdatableFeatureResult(feature, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class UpdateFeaturesResponse(Message):
    NAME: ClassVar[str] = "UpdateFeaturesResponse"
    API_KEY: ClassVar[int] = 57
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("results", "Results", "[]UpdatableFeatureResult", versions=(0, 1), default=(), ignorable=True, struct=UpdatableFeatureResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.results: list[UpdatableFeatureResult] = [] if results is EMPTY else results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("UpdateFeaturesResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if version <= 1:
            write_uvarint(writer, len(self.results) + 1)
            for results_item in self.results:
                results_item.write(writer, version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UpdateFeaturesResponse:
        if version < 0 or version > 2:
            raise cannot_read("UpdateFeaturesResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        results: list[UpdatableFeatureResult] = []
        if version <= 1:
            results = [UpdatableFeatureResult.read(reader, version) for _ in range(reader.read_compact_array_length(5, 74))]
        unknown = reader.read_unknown_tagged_fields()
        message = UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UpdateFeaturesResponse:
        reader = Reader(data)
        message = UpdateFeaturesResponse.read(reader, version)
        reader.expect_end()
        return message
