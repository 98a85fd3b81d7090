"""@generated from schemas/message/UpdateFeaturesRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_string,
    write_int8,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class FeatureUpdateKey(Message):
    NAME: ClassVar[str] = "FeatureUpdateKey"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("feature", "Feature", "string", default=""),
        Field("max_version_level", "MaxVersionLevel", "int16"),
        Field("allow_downgrade", "AllowDowngrade", "bool", versions=(0, 0), default=False),
        Field("upgrade_type", "UpgradeType", "int8", versions=(1, 32767), default=1),
    )

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature: str = feature
        self.max_version_level: int = max_version_level
        self.allow_downgrade: bool = allow_downgrade
        self.upgrade_type: int = upgrade_type
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.feature)
        write_i16_be(writer, self.max_version_level)
        if version <= 0:
            writer.append(1 if self.allow_downgrade else 0)
        elif self.allow_downgrade:
            raise missing_field("AllowDowngrade", version)
        if version >= 1:
            write_int8(writer, self.upgrade_type)
        elif self.upgrade_type != 1:
            raise missing_field("UpgradeType", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> FeatureUpdateKey:
        if reader.position >= reader.pause_at:
            reader.pause()
        feature: str = reader.read_compact_string()
        max_version_level: int = reader.read_int16()
        allow_downgrade: bool = False
        if version <= 0:
            allow_downgrade = reader.read_bool()
        upgrade_type: int = 1
        if version >= 1:
            upgrade_type = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = FeatureUpdateKey(feature, max_version_level, allow_downgrade, upgrade_type)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class UpdateFeaturesRequest(Message):
    NAME: ClassVar[str] = "UpdateFeaturesRequest"
    API_KEY: ClassVar[int] = 57
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("timeout_ms", "timeoutMs", "int32", default=60000),
        Field("feature_updates", "FeatureUpdates", "[]FeatureUpdateKey", default=(), struct=FeatureUpdateKey),
        Field("validate_only", "ValidateOnly", "bool", versions=(1, 32767), default=False),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms: int = timeout_ms
        self.feature_updates: list[FeatureUpdateKey] = [] if feature_updates is EMPTY else feature_updates
        self.validate_only: bool = validate_only
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("UpdateFeaturesRequest", version)
        write_i32_be(writer, self.timeout_ms)
        write_uvarint(writer, len(self.feature_updates) + 1)
        for feature_updates_item in self.feature_updates:
            feature_updates_item.write(writer, version)
        if version >= 1:
            writer.append(1 if self.validate_only else 0)
        elif self.validate_only:
            raise missing_field("ValidateOnly", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UpdateFeaturesRequest:
        if version < 0 or version > 2:
            raise cannot_read("UpdateFeaturesRequest", version)
        timeout_ms: int = reader.read_int32()
        feature_updates: list[FeatureUpdateKey] = [FeatureUpdateKey.read(reader, version) for _ in range(reader.read_compact_array_length(5, 82))]
        validate_only: bool = False
        if version >= 1:
            validate_only = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UpdateFeaturesRequest:
        reader = Reader(data)
        message = UpdateFeaturesRequest.read(reader, version)
        reader.expect_end()
        return message
