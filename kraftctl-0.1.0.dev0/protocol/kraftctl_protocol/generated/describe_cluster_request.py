"""@generated from schemas/message/DescribeClusterRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_int8,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class DescribeClusterRequest(Message):
    NAME: ClassVar[str] = "DescribeClusterRequest"
    API_KEY: ClassVar[int] = 60
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("include_cluster_authorized_operations", "IncludeClusterAuthorizedOperations", "bool", default=False),
        Field("endpoint_type", "EndpointType", "int8", versions=(1, 32767), default=1),
        Field("include_fenced_brokers", "IncludeFencedBrokers", "bool", versions=(2, 32767), default=False),
    )

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.endpoint_type: int = endpoint_type
        self.include_fenced_brokers: bool = include_fenced_brokers
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("DescribeClusterRequest", version)
        writer.append(1 if self.include_cluster_authorized_operations else 0)
        if version >= 1:
            write_int8(writer, self.endpoint_type)
        elif self.endpoint_type != 1:
            raise missing_field("EndpointType", version)
        if version >= 2:
            writer.append(1 if self.include_fenced_brokers else 0)
        elif self.include_fenced_brokers:
            raise missing_field("IncludeFencedBrokers", version)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> DescribeClusterRequest:
        if version < 0 or version > 2:
            raise cannot_read("DescribeClusterRequest", version)
        include_cluster_authorized_operations: bool = reader.read_bool()
        endpoint_type: int = 1
        if version >= 1:
            endpoint_type = reader.read_int8()
        include_fenced_brokers: bool = False
        if version >= 2:
            include_fenced_brokers = reader.read_bool()
        unknown = reader.read_unknown_tagged_fields()
        message = DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, include_fenced_brokers)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DescribeClusterRequest:
        reader = Reader(data)
        message = DescribeClusterRequest.read(reader, version)
        reader.expect_end()
        return message
