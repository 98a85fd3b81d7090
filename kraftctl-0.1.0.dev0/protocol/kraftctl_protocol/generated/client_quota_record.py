"""@generated from schemas/metadata/ClientQuotaRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_f64_be
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
        write_compact_string(writer, self.entity_type)
        write_compact_nullable_string(writer, self.entity_name)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> EntityData:
        if reader.position >= reader.pause_at:
            reader.pause()
        entity_type: str = reader.read_compact_string()
        entity_name: str | None = reader.read_compact_nullable_string()
        unknown = reader.read_unknown_tagged_fields()
        message = EntityData(entity_type, entity_name)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ClientQuotaRecord(Message):
    NAME: ClassVar[str] = "ClientQuotaRecord"
    API_KEY: ClassVar[int] = 14
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entity", "Entity", "[]EntityData", default=(), struct=EntityData),
        Field("key", "Key", "string", default=""),
        Field("value", "Value", "float64", default=0.0),
        Field("remove", "Remove", "bool", default=False),
    )

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.entity: list[EntityData] = [] if entity is EMPTY else entity
        self.key: str = key
        self.value: float = value
        self.remove: bool = remove
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ClientQuotaRecord", version)
        write_uvarint(writer, len(self.entity) + 1)
        for entity_item in self.entity:
            entity_item.write(writer, version)
        write_compact_string(writer, self.key)
        write_f64_be(writer, self.value)
        writer.append(1 if self.remove else 0)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ClientQuotaRecord:
        if version != 0:
            raise cannot_read("ClientQuotaRecord", version)
        entity: list[EntityData] = [EntityData.read(reader, version) for _ in range(reader.read_compact_array_length(3, 66))]
        key: str = reader.read_compact_string()
        value: float = reader.read_float64()
        remove: bool = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = ClientQuotaRecord(entity, key, value, remove)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ClientQuotaRecord:
        reader = Reader(data)
        message = ClientQuotaRecord.read(reader, version)
        reader.expect_end()
        return message
