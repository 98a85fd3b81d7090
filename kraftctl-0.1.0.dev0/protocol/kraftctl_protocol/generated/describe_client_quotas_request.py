"""@generated from schemas/message/DescribeClientQuotasRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_int8,
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class ComponentData(Message):
    NAME: ClassVar[str] = "ComponentData"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("entity_type", "EntityType", "string", default=""),
        Field("match_type", "MatchType", "int8"),
        Field("match", "Match", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.match_type: int = match_type
        self.match: str | None = match
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 1:
            write_compact_string(writer, self.entity_type)
        else:
            write_string(writer, self.entity_type)
        write_int8(writer, self.match_type)
        if version >= 1:
            write_compact_nullable_string(writer, self.match)
        else:
            write_nullable_string(writer, self.match)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ComponentData:
        if reader.position >= reader.pause_at:
            reader.pause()
        entity_type: str = reader.read_compact_string() if version >= 1 else reader.read_string()
        match_type: int = reader.read_int8()
        match: str | None = reader.read_compact_nullable_string() if version >= 1 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = ComponentData(entity_type, match_type, match)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeClientQuotasRequest(Message):
    NAME: ClassVar[str] = "DescribeClientQuotasRequest"
    API_KEY: ClassVar[int] = 48
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 1
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("components", "Components", "[]ComponentData", default=(), struct=ComponentData),
        Field("strict", "Strict", "bool", default=False),
    )

    def __init__(
        self,
        components: list[ComponentData] = EMPTY,
        strict: bool = False,
    ) -> None:
        self.components: list[ComponentData] = [] if components is EMPTY else components
        self.strict: bool = strict
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("DescribeClientQuotasRequest", version)
        if version >= 1:
            write_uvarint(writer, len(self.components) + 1)
        else:
            write_i32_be(writer, len(self.components))
        for components_item in self.components:
            components_item.write(writer, version)
        writer.append(1 if self.strict else 0)
        if version >= 1:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeClientQuotasRequest:
        if version < 0 or version > 1:
            raise cannot_read("DescribeClientQuotasRequest", version)
        components: list[ComponentData] = [ComponentData.read(reader, version) for _ in range(reader.read_compact_array_length(4, 74))] if version >= 1 else [ComponentData.read(reader, version) for _ in range(reader.read_array_length(5, 74))]
        strict: bool = reader.read_bool()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 1:
            unknown = reader.read_unknown_tagged_fields()
        message = DescribeClientQuotasRequest(components, strict)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeClientQuotasRequest:
        reader = Reader(data)
        message = DescribeClientQuotasRequest.read(reader, version)
        reader.expect_end()
        return message
