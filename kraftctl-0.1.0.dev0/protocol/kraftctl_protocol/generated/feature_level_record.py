"""@generated from schemas/metadata/FeatureLevelRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class FeatureLevelRecord(Message):
    NAME: ClassVar[str] = "FeatureLevelRecord"
    API_KEY: ClassVar[int] = 12
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("feature_level", "FeatureLevel", "int16"),
    )

    def __init__(
        self,
        name: str = "",
        feature_level: int = 0,
    ) -> None:
        self.name: str = name
        self.feature_level: int = feature_level
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("FeatureLevelRecord", version)
        write_compact_string(writer, self.name)
        write_i16_be(writer, self.feature_level)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> FeatureLevelRecord:
        if version != 0:
            raise cannot_read("FeatureLevelRecord", version)
        name: str = reader.read_compact_string()
        feature_level: int = reader.read_int16()
        unknown = reader.read_unknown_tagged_fields()
        message = FeatureLevelRecord(name, feature_level)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> FeatureLevelRecord:
        reader = Reader(data)
        message = FeatureLevelRecord.read(reader, version)
        reader.expect_end()
        return message
