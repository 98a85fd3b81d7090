"""@generated from schemas/message/ListConfigResourcesRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_int8,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ListConfigResourcesRequest(Message):
    NAME: ClassVar[str] = "ListConfigResourcesRequest"
    API_KEY: ClassVar[int] = 74
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("resource_types", "ResourceTypes", "[]int8", versions=(1, 32767), default=()),
    )

    def __init__(
        self,
        resource_types: list[int] = EMPTY,
    ) -> None:
        self.resource_types: list[int] = [] if resource_types is EMPTY else resource_types
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 1:
            raise cannot_write("ListConfigResourcesRequest", version)
        if version >= 1:
            write_uvarint(writer, len(self.resource_types) + 1)
            for resource_types_item in self.resource_types:
                write_int8(writer, resource_types_item)
        elif self.resource_types:
            raise missing_field("ResourceTypes", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ListConfigResourcesRequest:
        if version < 0 or version > 1:
            raise cannot_read("ListConfigResourcesRequest", version)
        resource_types: list[int] = []
        if version >= 1:
            resource_types = [reader.read_int8() for _ in range(reader.read_compact_array_length(1, 42))]
        unknown = reader.read_unknown_tagged_fields()
        message = ListConfigResourcesRequest(resource_types)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ListConfigResourcesRequest:
        reader = Reader(data)
        message = ListConfigResourcesRequest.read(reader, version)
        reader.expect_end()
        return message
