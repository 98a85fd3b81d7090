"""@generated from schemas/message/DescribeClientQuotasResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_f64_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class EntityData(Message):
    NAME: ClassVar[str] = "EntityData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entity_type", "EntityType", "string", default=""),
        Field("entity_name", "EntityName", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.entity_name: str | None = entity_name
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_compact_string(writer, self.entity_type)
        else:
            write_string(writer, self.entity_type)
        if version >= 1:
            write_compact_nullable_string(writer, self.entity_name)
        else:
            write_nullable_string(writer, self.entity_name)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> EntityData:
        if reader.position >= reader.pause_at:
            reader.pause()
        entity_type: str = reader.read_compact_string() if version >= 1 else reader.read_string()
        entity_name: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = EntityData(entity_type, entity_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ValueData(Message):
    NAME: ClassVar[str] = "ValueData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("key", "Key", "string", default=""),
        Field("value", "Value", "float64", default=0.0),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key: str = key
        self.value: float = value
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_compact_string(writer, self.key)
        else:
            write_string(writer, self.key)
        write_f64_be(writer, self.value)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ValueData:
        if reader.position >= reader.pause_at:
            reader.pause()
        key: str = reader.read_compact_string() if version >= 1 else reader.read_string()
        value: float = reader.read_float64()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = ValueData(key, value)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class EntryData(Message):
    NAME: ClassVar[str] = "EntryData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entity", "Entity", "[]EntityData", default=(), struct=EntityData),
        Field("values", "Values", "[]ValueData", default=(), struct=ValueData),
    )

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        values: list[ValueData] = EMPTY,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is EMPTY else entity
        self.values: list[ValueData] = [] if values is EMPTY else values
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_uvarint(writer, len(self.entity) + 1)
        else:
            write_i32_be(writer, len(self.entity))
        for entity_item in self.entity:
            entity_item.write(writer, version)
        if version >= 1:
            write_uvarint(writer, len(self.values) + 1)
        else:
            write_i32_be(writer, len(self.values))
        for values_item in self.values:
            values_item.write(writer, version)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> EntryData:
        if reader.position >= reader.pause_at:
            reader.pause()
        entity: list[EntityData] = [EntityData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 1 else [EntityData.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        values: list[ValueData] = [ValueData.read(reader, version) for _ in range(reader.read_compact_array_length(10, 66))] if version >= 1 else [ValueData.read(reader, version) for _ in range(reader.read_array_length(10, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = EntryData(entity, values)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeClientQuotasResponse(Message):
    NAME: ClassVar[str] = "DescribeClientQuotasResponse"
    API_KEY: ClassVar[int] = 48
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("entries", "Entries", "[]EntryData", nullable=(0, 32767), default=(), struct=EntryData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entries: list[EntryData] | None = [] if entries is EMPTY else entries
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("DescribeClientQuotasResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        if version >= 1:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if self.entries is None:
            if version >= 1:
                writer.append(0)
            else:
                write_i32_be(writer, -1)
        else:
            if version >= 1:
                write_uvarint(writer, len(self.entries) + 1)
            else:
                write_i32_be(writer, len(self.entries))
            for entries_item in self.entries:
                entries_item.write(writer, version)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeClientQuotasResponse:
        if version < 0 or version > 1:
            raise cannot_read("DescribeClientQuotasResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        entries: list[EntryData] | None = (None if (length := reader.read_compact_nullable_array_length(3, 194)) < 0 else [EntryData.read(reader, version) for _ in range(length)]) if version >= 1 else (None if (length := reader.read_nullable_array_length(8, 194)) < 0 else [EntryData.read(reader, version) for _ in range(length)])
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeClientQuotasResponse(throttle_time_ms, error_code, error_message, entries)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeClientQuotasResponse:
        reader = Reader(data)
        message = DescribeClientQuotasResponse.read(reader, version)
        reader.expect_end()
        return message
