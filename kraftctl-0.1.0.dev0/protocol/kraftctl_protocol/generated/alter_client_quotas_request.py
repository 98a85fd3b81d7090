"""@generated from schemas/message/AlterClientQuotasRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_f64_be, write_i32_be
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
class OpData(Message):
    NAME: ClassVar[str] = "OpData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("key", "Key", "string", default=""),
        Field("value", "Value", "float64", default=0.0),
        Field("remove", "Remove", "bool", default=False),
    )

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key: str = key
        self.value: float = value
        self.remove: bool = remove
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_compact_string(writer, self.key)
        else:
            write_string(writer, self.key)
        write_f64_be(writer, self.value)
        writer.append(1 if self.remove else 0)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> OpData:
        if reader.position >= reader.pause_at:
            reader.pause()
        key: str = reader.read_compact_string() if version >= 1 else reader.read_string()
        value: float = reader.read_float64()
        remove: bool = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = OpData(key, value, remove)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class EntryData(Message):
    NAME: ClassVar[str] = "EntryData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entity", "Entity", "[]EntityData", default=(), struct=EntityData),
        Field("ops", "Ops", "[]OpData", default=(), struct=OpData),
    )

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        ops: list[OpData] = EMPTY,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is EMPTY else entity
        self.ops: list[OpData] = [] if ops is EMPTY else ops
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_uvarint(writer, len(self.entity) + 1)
        else:
            write_i32_be(writer, len(self.entity))
        for entity_item in self.entity:
            entity_item.write(writer, version)
        if version >= 1:
            write_uvarint(writer, len(self.ops) + 1)
        else:
            write_i32_be(writer, len(self.ops))
        for ops_item in self.ops:
            ops_item.write(writer, version)
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
        ops: list[OpData] = [OpData.read(reader, version) for _ in range(reader.read_compact_array_length(11, 74))] if version >= 1 else [OpData.read(reader, version) for _ in range(reader.read_array_length(11, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = EntryData(entity, ops)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class AlterClientQuotasRequest(Message):
    NAME: ClassVar[str] = "AlterClientQuotasRequest"
    API_KEY: ClassVar[int] = 49
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entries", "Entries", "[]EntryData", default=(), struct=EntryData),
        Field("validate_only", "ValidateOnly", "bool", default=False),
    )

    def __init__(
        self,
        entries: list[EntryData] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.entries: list[EntryData] = [] if entries is EMPTY else entries
        self.validate_only: bool = validate_only
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("AlterClientQuotasRequest", version)
        if version >= 1:
            write_uvarint(writer, len(self.entries) + 1)
        else:
            write_i32_be(writer, len(self.entries))
        for entries_item in self.entries:
            entries_item.write(writer, version)
        writer.append(1 if self.validate_only else 0)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> AlterClientQuotasRequest:
        if version < 0 or version > 1:
            raise cannot_read("AlterClientQuotasRequest", version)
        entries: list[EntryData] = [EntryData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 194))] if version >= 1 else [EntryData.read(reader, version) for _ in range(reader.read_array_length(8, 194))]
        validate_only: bool = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = AlterClientQuotasRequest(entries, validate_only)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> AlterClientQuotasRequest:
        reader = Reader(data)
        message = AlterClientQuotasRequest.read(reader, version)
        reader.expect_end()
        return message
