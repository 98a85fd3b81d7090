"""@generated from schemas/metadata/RegisterBrokerRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i64_be, write_i16_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
    write_uint16,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class BrokerEndpoint(Message):
    NAME: ClassVar[str] = "BrokerEndpoint"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "uint16"),
        Field("security_protocol", "SecurityProtocol", "int16"),
    )

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port
        self.security_protocol: int = security_protocol
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_compact_string(writer, self.host)
        write_uint16(writer, self.port)
        write_i16_be(writer, self.security_protocol)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerEndpoint:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        security_protocol: int = reader.read_int16()
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerEndpoint(name, host, port, security_protocol)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class BrokerFeature(Message):
    NAME: ClassVar[str] = "BrokerFeature"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", default=""),
        Field("min_supported_version", "MinSupportedVersion", "int16"),
        Field("max_supported_version", "MaxSupportedVersion", "int16"),
    )

    def __init__(
        self,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name: str = name
        self.min_supported_version: int = min_supported_version
        self.max_supported_version: int = max_supported_version
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_compact_string(writer, self.name)
        write_i16_be(writer, self.min_supported_version)
        write_i16_be(writer, self.max_supported_version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerFeature:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        at = reader.take(4)
        buffer = reader.buffer
        min_supported_version: int = read_i16_be(buffer, at)
        max_supported_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerFeature(name, min_supported_version, max_supported_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class RegisterBrokerRecord(Message):
    NAME: ClassVar[str] = "RegisterBrokerRecord"
    API_KEY: ClassVar[int] = 0
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("is_migrating_zk_broker", "IsMigratingZkBroker", "bool", versions=(2, 32767), default=False),
        Field("incarnation_id", "IncarnationId", "uuid", default=ZERO_UUID),
        Field("broker_epoch", "BrokerEpoch", "int64"),
        Field("end_points", "EndPoints", "[]BrokerEndpoint", default=(), struct=BrokerEndpoint),
        Field("features", "Features", "[]BrokerFeature", default=(), struct=BrokerFeature),
        Field("rack", "Rack", "string", nullable=(0, 32767), default=""),
        Field("fenced", "Fenced", "bool", default=True),
        Field("in_controlled_shutdown", "InControlledShutdown", "bool", versions=(1, 32767), default=False),
        Field("log_dirs", "LogDirs", "[]uuid", versions=(3, 32767), tagged=(3, 32767), tag=0, default=()),
        Field("cordoned_log_dirs", "CordonedLogDirs", "[]uuid", versions=(4, 32767), nullable=(4, 32767), tagged=(4, 32767), tag=1, default=None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = EMPTY,
        features: list[BrokerFeature] = EMPTY,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[bytes] = EMPTY,
        cordoned_log_dirs: list[bytes] | None = None,
    ) -> None:
        self.broker_id: int = broker_id
        self.is_migrating_zk_broker: bool = is_migrating_zk_broker
        self.incarnation_id: bytes = incarnation_id
        self.broker_epoch: int = broker_epoch
        self.end_points: list[BrokerEndpoint] = [] if end_points is EMPTY else end_points
        self.features: list[BrokerFeature] = [] if features is EMPTY else features
        self.rack: str | None = rack
        self.fenced: bool = fenced
        self.in_controlled_shutdown: bool = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs: list[bytes] | None = cordoned_log_dirs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 4:
            raise cannot_write("RegisterBrokerRecord", version)
        write_i32_be(writer, self.broker_id)
        if version >= 2:
            writer.append(1 if self.is_migrating_zk_broker else 0)
        elif self.is_migrating_zk_broker:
            raise missing_field("IsMigratingZkBroker", version)
        write_uuid(writer, self.incarnation_id)
        write_i64_be(writer, self.broker_epoch)
        write_uvarint(writer, len(self.end_points) + 1)
        for end_points_item in self.end_points:
            end_points_item.write(writer, version)
        write_uvarint(writer, len(self.features) + 1)
        for features_item in self.features:
            features_item.write(writer, version)
        write_compact_nullable_string(writer, self.rack)
        writer.append(1 if self.fenced else 0)
        if version >= 1:
            writer.append(1 if self.in_controlled_shutdown else 0)
        elif self.in_controlled_shutdown:
            raise missing_field("InControlledShutdown", version)
        if version < 3 and self.log_dirs:
            raise missing_field("LogDirs", version)
        if version < 4 and self.cordoned_log_dirs is not None:
            raise missing_field("CordonedLogDirs", version)
        if self.unknown_tagged_fields is None and not self.log_dirs and self.cordoned_log_dirs is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if version >= 3 and self.log_dirs:
                at = begin_tag(writer, 0)
                write_uvarint(writer, len(self.log_dirs) + 1)
                for log_dirs_item in self.log_dirs:
                    write_uuid(writer, log_dirs_item)
                end_tag(writer, at)
                count += 1
            if version >= 4 and self.cordoned_log_dirs is not None:
                at = begin_tag(writer, 1)
                write_uvarint(writer, len(self.cordoned_log_dirs) + 1)
                for cordoned_log_dirs_item in self.cordoned_log_dirs:
                    write_uuid(writer, cordoned_log_dirs_item)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> RegisterBrokerRecord:
        if version < 0 or version > 4:
            raise cannot_read("RegisterBrokerRecord", version)
        broker_id: int = reader.read_int32()
        is_migrating_zk_broker: bool = False
        if version >= 2:
            is_migrating_zk_broker = reader.read_bool()
        at = reader.take(24)
        buffer = reader.buffer
        incarnation_id: bytes = buffer[at : at + 16]
        broker_epoch: int = read_i64_be(buffer, at + 16)
        end_points: list[BrokerEndpoint] = [BrokerEndpoint.read(reader, version) for _ in range(reader.read_compact_array_length(7, 82))]
        features: list[BrokerFeature] = [BrokerFeature.read(reader, version) for _ in range(reader.read_compact_array_length(6, 74))]
        rack: str | None = reader.read_compact_nullable_string()
        fenced: bool = reader.read_bool()
        in_controlled_shutdown: bool = False
        if version >= 1:
            in_controlled_shutdown = reader.read_bool()
        log_dirs: list[bytes] = []
        cordoned_log_dirs: list[bytes] | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                if version < 3:
                    raise invalid_tag("RegisterBrokerRecord", tag, version)
                log_dirs = [reader.read_uuid() for _ in range(reader.read_compact_array_length(16, 74))]
            elif tag == 1:
                if version < 4:
                    raise invalid_tag("RegisterBrokerRecord", tag, version)
                cordoned_log_dirs = None if (length := reader.read_compact_nullable_array_length(16, 74)) < 0 else [reader.read_uuid() for _ in range(length)]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = RegisterBrokerRecord(broker_id, is_migrating_zk_broker, incarnation_id, broker_epoch, end_points, features, rack, fenced, in_controlled_shutdown, log_dirs, cordoned_log_dirs)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> RegisterBrokerRecord:
        reader = Reader(data)
        message = RegisterBrokerRecord.read(reader, version)
        reader.expect_end()
        return message
