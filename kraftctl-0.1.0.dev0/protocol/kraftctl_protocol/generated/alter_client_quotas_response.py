"""@generated from schemas/message/AlterClientQuotasResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i32_be
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
class EntryData(Message):
    NAME: ClassVar[str] = "EntryData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
        Field("entity", "Entity", "[]EntityData", default=(), struct=EntityData),
    )

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[EntityData] = EMPTY,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entity: list[EntityData] = [] if entity is EMPTY else entity
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.error_code)
        if version >= 1:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 1:
            write_uvarint(writer, len(self.entity) + 1)
        else:
            write_i32_be(writer, len(self.entity))
        for entity_item in self.entity:
            entity_item.write(writer, version)
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
        error_code: int = reader.read_int16()
        error_message: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        entity: list[EntityData] = [EntityData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))] if version >= 1 else [EntityData.read(reader, version) for _ in range(reader.read_array_length(4, 66))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = EntryData(error_code, error_message, entity)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterClientQuotasResponse(Message):
    NAME: ClassVar[str] = "AlterClientQuotasResponse"
    API_KEY: ClassVar[int] = 49
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("entries", "Entries", "[]EntryData", default=(), struct=EntryData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[EntryData] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.entries: list[EntryData] = [] if entries is EMPTY else entries
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("AlterClientQuotasResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
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
    def read(reader: Reader, version: i64) -> AlterClientQuotasResponse:
        if version < 0 or version > 1:
            raise cannot_read("AlterClientQuotasResponse", version)
        throttle_time_ms: int = reader.read_int32()
        entries: list[EntryData] = [EntryData.read(reader, version) for _ in range(reader.read_compact_array_length(5, 138))] if version >= 1 else [EntryData.read(reader, version) for _ in range(reader.read_array_length(8, 138))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterClientQuotasResponse(throttle_time_ms, entries)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterClientQuotasResponse:
        reader = Reader(data)
        message = AlterClientQuotasResponse.read(reader, version)
        reader.expect_end()
        return message
