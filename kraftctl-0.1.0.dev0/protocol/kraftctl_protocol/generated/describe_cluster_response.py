"""@generated from schemas/message/DescribeClusterResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
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
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class DescribeClusterBroker(Message):
    NAME: ClassVar[str] = "DescribeClusterBroker"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "int32"),
        Field("rack", "Rack", "string", nullable=(0, 32767), default=None),
        Field("is_fenced", "IsFenced", "bool", versions=(2, 32767), default=False),
    )

    def __init__(
        self,
        broker_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id: int = broker_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack
        self.is_fenced: bool = is_fenced
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.broker_id)
        write_compact_string(writer, self.host)
        write_i32_be(writer, self.port)
        write_compact_nullable_string(writer, self.rack)
        if version >= 2:
            writer.append(1 if self.is_fenced else 0)
        elif self.is_fenced:
            raise missing_field("IsFenced", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeClusterBroker:
        if reader.position >= reader.pause_at:
            reader.pause()
        broker_id: int = reader.read_int32()
        host: str = reader.read_compact_string()
        port: int = reader.read_int32()
        rack: str | None = reader.read_compact_nullable_string()
        is_fenced: bool = False
        if version >= 2:
            is_fenced = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeClusterBroker(broker_id, host, port, rack, is_fenced)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeClusterResponse(Message):
    NAME: ClassVar[str] = "DescribeClusterResponse"
    API_KEY: ClassVar[int] = 60
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=None),
        Field("endpoint_type", "EndpointType", "int8", versions=(1, 32767), default=1),
        Field("cluster_id", "ClusterId", "string", default=""),
        Field("controller_id", "ControllerId", "int32", default=-1),
        Field("brokers", "Brokers", "[]DescribeClusterBroker", default=(), struct=DescribeClusterBroker),
        Field("cluster_authorized_operations", "ClusterAuthorizedOperations", "int32", default=-2147483648),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = "",
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.endpoint_type: int = endpoint_type
        self.cluster_id: str = cluster_id
        self.controller_id: int = controller_id
        self.brokers: list[DescribeClusterBroker] = [] if brokers is EMPTY else brokers
        self.cluster_authorized_operations: int = cluster_authorized_operations
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("DescribeClusterResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        write_compact_nullable_string(writer, self.error_message)
        if version >= 1:
            write_int8(writer, self.endpoint_type)
        elif self.endpoint_type != 1:
            raise missing_field("EndpointType", version)
        write_compact_string(writer, self.cluster_id)
        write_i32_be(writer, self.controller_id)
        write_uvarint(writer, len(self.brokers) + 1)
        for brokers_item in self.brokers:
            brokers_item.write(writer, version)
        write_i32_be(writer, self.cluster_authorized_operations)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeClusterResponse:
        if version < 0 or version > 2:
            raise cannot_read("DescribeClusterResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string()
        endpoint_type: int = 1
        if version >= 1:
            endpoint_type = reader.read_int8()
        cluster_id: str = reader.read_compact_string()
        controller_id: int = reader.read_int32()
        brokers: list[DescribeClusterBroker] = [DescribeClusterBroker.read(reader, version) for _ in range(reader.read_compact_array_length(11, 90))]
        cluster_authorized_operations: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeClusterResponse(throttle_time_ms, error_code, error_message, endpoint_type, cluster_id, controller_id, brokers, cluster_authorized_operations)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeClusterResponse:
        reader = Reader(data)
        message = DescribeClusterResponse.read(reader, version)
        reader.expect_end()
        return message
