"""@generated from schemas/message/ApiVersionsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields


@mypyc_attr(acyclic=True)
class ApiVersion(Message):
    NAME: ClassVar[str] = "ApiVersion"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("api_key", "ApiKey", "int16"),
        Field("min_version", "MinVersion", "int16"),
        Field("max_version", "MaxVersion", "int16"),
    )

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key: int = api_key
        self.min_version: int = min_version
        self.max_version: int = max_version
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i16_be(writer, self.api_key)
        write_i16_be(writer, self.min_version)
        write_i16_be(writer, self.max_version)
        if version >= 3:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ApiVersion:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        api_key: int = read_i16_be(buffer, at)
        min_version: int = read_i16_be(buffer, at + 2)
        max_version: int = read_i16_be(buffer, at + 4)
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            unknown = reader.read_unknown_tagged_fields()
        message = ApiVersion(api_key, min_version, max_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class SupportedFeatureKey(Message):
    NAME: ClassVar[str] = "SupportedFeatureKey"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(3, 32767), default=""),
        Field("min_version", "MinVersion", "int16", versions=(3, 32767)),
        Field("max_version", "MaxVersion", "int16", versions=(3, 32767)),
    )

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_version: int = min_version
        self.max_version: int = max_version
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_i16_be(writer, self.min_version)
        write_i16_be(writer, self.max_version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> SupportedFeatureKey:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        at = reader.take(4)
        buffer = reader.buffer
        min_version: int = read_i16_be(buffer, at)
        max_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = SupportedFeatureKey(name, min_version, max_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class FinalizedFeatureKey(Message):
    NAME: ClassVar[str] = "FinalizedFeatureKey"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", versions=(3, 32767), default=""),
        Field("max_version_level", "MaxVersionLevel", "int16", versions=(3, 32767)),
        Field("min_version_level", "MinVersionLevel", "int16", versions=(3, 32767)),
    )

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name: str = name
        self.max_version_level: int = max_version_level
        self.min_version_level: int = min_version_level
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_i16_be(writer, self.max_version_level)
        write_i16_be(writer, self.min_version_level)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> FinalizedFeatureKey:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        at = reader.take(4)
        buffer = reader.buffer
        max_version_level: int = read_i16_be(buffer, at)
        min_version_level: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = FinalizedFeatureKey(name, max_version_level, min_version_level)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ApiVersionsResponse(Message):
    NAME: ClassVar[str] = "ApiVersionsResponse"
    API_KEY: ClassVar[int] = 18
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "ErrorCode", "int16"),
        Field("api_keys", "ApiKeys", "[]ApiVersion", default=(), struct=ApiVersion),
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", versions=(1, 32767), ignorable=True),
        Field("supported_features", "SupportedFeatures", "[]SupportedFeatureKey", versions=(3, 32767), tagged=(3, 32767), tag=0, default=(), ignorable=True, struct=SupportedFeatureKey),
        Field("finalized_features_epoch", "FinalizedFeaturesEpoch", "int64", versions=(3, 32767), tagged=(3, 32767), tag=1, default=-1, ignorable=True),
        Field("finalized_features", "FinalizedFeatures", "[]FinalizedFeatureKey", versions=(3, 32767), tagged=(3, 32767), tag=2, default=(), ignorable=True, struct=FinalizedFeatureKey),
        Field("zk_migration_ready", "ZkMigrationReady", "bool", versions=(3, 32767), tagged=(3, 32767), tag=3, default=False, ignorable=True),
    )

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = EMPTY,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = EMPTY,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = EMPTY,
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code: int = error_code
        self.api_keys: list[ApiVersion] = [] if api_keys is EMPTY else api_keys
        self.throttle_time_ms: int = throttle_time_ms
        self.supported_features: list[SupportedFeatureKey] = [] if supported_features is EMPTY else supported_features
        self.finalized_features_epoch: int = finalized_features_epoch
        self.finalized_features: list[FinalizedFeatureKey] = [] if finalized_features is EMPTY else finalized_features
        self.zk_migration_ready: bool = zk_migration_ready
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 5:
            raise cannot_write("ApiVersionsResponse", version)
        write_i16_be(writer, self.error_code)
        if version >= 3:
            write_uvarint(writer, len(self.api_keys) + 1)
        else:
            write_i32_be(writer, len(self.api_keys))
        for api_keys_item in self.api_keys:
            api_keys_item.write(writer, version)
        if version >= 1:
            write_i32_be(writer, self.throttle_time_ms)
        if version >= 3:
            if self.unknown_tagged_fields is None and not self.supported_features and self.finalized_features_epoch == -1 and not self.finalized_features and not self.zk_migration_ready:
                writer.append(0)
            else:
                start = begin_tags(writer)
                count: i64 = 0
                if self.supported_features:
                    at = begin_tag(writer, 0)
                    write_uvarint(writer, len(self.supported_features) + 1)
                    for supported_features_item in self.supported_features:
                        supported_features_item.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                if self.finalized_features_epoch != -1:
                    at = begin_tag(writer, 1)
                    write_i64_be(writer, self.finalized_features_epoch)
                    end_tag(writer, at)
                    count += 1
                if self.finalized_features:
                    at = begin_tag(writer, 2)
                    write_uvarint(writer, len(self.finalized_features) + 1)
                    for finalized_features_item in self.finalized_features:
                        finalized_features_item.write(writer, version)
                    end_tag(writer, at)
                    count += 1
                if self.zk_migration_ready:
                    at = begin_tag(writer, 3)
                    writer.append(1 if self.zk_migration_ready else 0)
                    end_tag(writer, at)
                    count += 1
                end_tags(writer, start, count, self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ApiVersionsResponse:
        if version < 0 or version > 5:
            raise cannot_read("ApiVersionsResponse", version)
        error_code: int = reader.read_int16()
        api_keys: list[ApiVersion] = [ApiVersion.read(reader, version) for _ in range(reader.read_compact_array_length(7, 74))] if version >= 3 else [ApiVersion.read(reader, version) for _ in range(reader.read_array_length(6, 74))]
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = reader.read_int32()
        supported_features: list[SupportedFeatureKey] = []
        finalized_features_epoch: int = -1
        finalized_features: list[FinalizedFeatureKey] = []
        zk_migration_ready: bool = False
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            count = reader.read_tag_count()
            while count > 0:
                count -= 1
                tag = reader.read_uvarint()
                end = reader.begin_tagged_field()
                if tag == 0:
                    supported_features = [SupportedFeatureKey.read(reader, version) for _ in range(reader.read_compact_array_length(6, 74))]
                elif tag == 1:
                    finalized_features_epoch = reader.read_int64()
                elif tag == 2:
                    finalized_features = [FinalizedFeatureKey.read(reader, version) for _ in range(reader.read_compact_array_length(6, 74))]
                elif tag == 3:
                    zk_migration_ready = reader.read_bool()
                else:
                    if unknown is None:
                        unknown = []
                    size = end - reader.position
                    unknown.append((tag, reader.read_unknown_tagged_field(size)))
                reader.end_tagged_field(end)
        message = ApiVersionsResponse(error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch, finalized_features, zk_migration_ready)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ApiVersionsResponse:
        reader = Reader(data)
        message = ApiVersionsResponse.read(reader, version)
        reader.expect_end()
        return message
