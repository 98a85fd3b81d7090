"""@generated from schemas/message/BrokerRegistrationRequest.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_compact_nullable_string,
    write_compact_string,
    write_uint16,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class Listener(Message):
    NAME: ClassVar[str] = "Listener"
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
    def read(reader: Reader, version: i64) -> Listener:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        host: str = reader.read_compact_string()
        port: int = reader.read_uint16()
        security_protocol: int = reader.read_int16()
        unknown = reader.read_unknown_tagged_fields()
        message = Listener(name, host, port, security_protocol)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class Feature(Message):
    NAME: ClassVar[str] = "Feature"
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
    def read(reader: Reader, version: i64) -> Feature:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str = reader.read_compact_string()
        at = reader.take(4)
        buffer = reader.buffer
        min_supported_version: int = read_i16_be(buffer, at)
        max_supported_version: int = read_i16_be(buffer, at + 2)
        unknown = reader.read_unknown_tagged_fields()
        message = Feature(name, min_supported_version, max_supported_version)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class BrokerRegistrationRequest(Message):
    NAME: ClassVar[str] = "BrokerRegistrationRequest"
    API_KEY: ClassVar[int] = 62
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 4
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("cluster_id", "ClusterId", "string", default=""),
        Field("incarnation_id", "IncarnationId", "uuid", default=ZERO_UUID),
        Field("listeners", "Listeners", "[]Listener", default=(), struct=Listener),
        Field("features", "Features", "[]Feature", default=(), struct=Feature),
        Field("rack", "Rack", "string", nullable=(0, 32767), default=""),
        Field("is_migrating_zk_broker", "IsMigratingZkBroker", "bool", versions=(1, 32767), default=False),
        Field("log_dirs", "LogDirs", "[]uuid", versions=(2, 32767), default=(), ignorable=True),
        Field("previous_broker_epoch", "PreviousBrokerEpoch", "int64", versions=(3, 32767), default=-1, ignorable=True),
    )

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = "",
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        features: list[Feature] = EMPTY,
        rack: str | None = "",
        is_migrating_zk_broker: bool = False,
        log_dirs: list[bytes] = EMPTY,
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id: int = broker_id
        self.cluster_id: str = cluster_id
        self.incarnation_id: bytes = incarnation_id
        self.listeners: list[Listener] = [] if listeners is EMPTY else listeners
        self.features: list[Feature] = [] if features is EMPTY else features
        self.rack: str | None = rack
        self.is_migrating_zk_broker: bool = is_migrating_zk_broker
        self.log_dirs: list[bytes] = [] if log_dirs is EMPTY else log_dirs
        self.previous_broker_epoch: int = previous_broker_epoch
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 4:
            raise cannot_write("BrokerRegistrationRequest", version)
        write_i32_be(writer, self.broker_id)
        write_compact_string(writer, self.cluster_id)
        write_uuid(writer, self.incarnation_id)
        write_uvarint(writer, len(self.listeners) + 1)
        for listeners_item in self.listeners:
            listeners_item.write(writer, version)
        write_uvarint(writer, len(self.features) + 1)
        for features_item in self.features:
            features_item.write(writer, version)
        write_compact_nullable_string(writer, self.rack)
        if version >= 1:
            writer.append(1 if self.is_migrating_zk_broker else 0)
        elif self.is_migrating_zk_broker:
            raise missing_field("IsMigratingZkBroker", version)
        if version >= 2:
            write_uvarint(writer, len(self.log_dirs) + 1)
            for log_dirs_item in self.log_dirs:
                write_uuid(writer, log_dirs_item)
        if version >= 3:
            write_i64_be(writer, self.previous_broker_epoch)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerRegistrationRequest:
        if version < 0 or version > 4:
            raise cannot_read("BrokerRegistrationRequest", version)
        broker_id: int = reader.read_int32()
        cluster_id: str = reader.read_compact_string()
        incarnation_id: bytes = reader.read_uuid()
        listeners: list[Listener] = [Listener.read(reader, version) for _ in range(reader.read_compact_array_length(7, 82))]
        features: list[Feature] = [Feature.read(reader, version) for _ in range(reader.read_compact_array_length(6, 74))]
        rack: str | None = reader.read_compact_nullable_string()
        is_migrating_zk_broker: bool = False
        if version >= 1:
            is_migrating_zk_broker = reader.read_bool()
        log_dirs: list[bytes] = []
        if version >= 2:
            log_dirs = [reader.read_uuid() for _ in range(reader.read_compact_array_length(16, 74))]
        previous_broker_epoch: int = -1
        if version >= 3:
            previous_broker_epoch = reader.read_int64()
        unknown = reader.read_unknown_tagged_fields()
        message = BrokerRegistrationRequest(broker_id, cluster_id, incarnation_id, listeners, features, rack, is_migrating_zk_broker, log_dirs, previous_broker_epoch)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BrokerRegistrationRequest:
        reader = Reader(data)
        message = BrokerRegistrationRequest.read(reader, version)
        reader.expect_end()
        return message
