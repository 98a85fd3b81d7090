"""@generated from schemas/message/ApiVersionsRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_nullable_string,
    write_compact_string,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ApiVersionsRequest(Message):
    NAME: ClassVar[str] = "ApiVersionsRequest"
    API_KEY: ClassVar[int] = 18
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 5
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 3
    LISTENERS: ClassVar[tuple[str, ...]] = ("broker", "controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("client_software_name", "ClientSoftwareName", "string", versions=(3, 32767), default="", ignorable=True),
        Field("client_software_version", "ClientSoftwareVersion", "string", versions=(3, 32767), default="", ignorable=True),
        Field("cluster_id", "ClusterId", "string", versions=(5, 32767), nullable=(5, 32767), default=None, ignorable=True),
        Field("node_id", "NodeId", "int32", versions=(5, 32767), default=-1, ignorable=True),
    )

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
        cluster_id: str | None = None,
        node_id: int = -1,
    ) -> None:
        self.client_software_name: str = client_software_name
        self.client_software_version: str = client_software_version
        self.cluster_id: str | None = cluster_id
        self.node_id: int = node_id
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 5:
            raise cannot_write("ApiVersionsRequest", version)
        if version >= 3:
            write_compact_string(writer, self.client_software_name)
        if version >= 3:
            write_compact_string(writer, self.client_software_version)
        if version >= 5:
            write_compact_nullable_string(writer, self.cluster_id)
        if version >= 5:
            write_i32_be(writer, self.node_id)
        if version >= 3:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ApiVersionsRequest:
        if version < 0 or version > 5:
            raise cannot_read("ApiVersionsRequest", version)
        client_software_name: str = ""
        if version >= 3:
            client_software_name = reader.read_compact_string()
        client_software_version: str = ""
        if version >= 3:
            client_software_version = reader.read_compact_string()
        cluster_id: str | None = None
        if version >= 5:
            cluster_id = reader.read_compact_nullable_string()
        node_id: int = -1
        if version >= 5:
            node_id = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 3:
            unknown = reader.read_unknown_tagged_fields()
        message = ApiVersionsRequest(client_software_name, client_software_version, cluster_id, node_id)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ApiVersionsRequest:
        reader = Reader(data)
        message = ApiVersionsRequest.read(reader, version)
        reader.expect_end()
        return message
