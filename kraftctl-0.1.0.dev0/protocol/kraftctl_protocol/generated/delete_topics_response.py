"""@generated from schemas/message/DeleteTopicsResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field, null_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_nullable_string,
    write_nullable_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class DeletableTopicResult(Message):
    NAME: ClassVar[str] = "DeletableTopicResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "Name", "string", nullable=(6, 32767), default=""),
        Field("topic_id", "TopicId", "uuid", versions=(6, 32767), default=ZERO_UUID, ignorable=True),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", versions=(5, 32767), nullable=(5, 32767), default=None, ignorable=True),
    )

    def __init__(
        self,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if self.name is None and version < 6:
            raise null_field("Name", version)
        if version >= 4:
            write_compact_nullable_string(writer, self.name)
        else:
            write_nullable_string(writer, self.name)
        if version >= 6:
            write_uuid(writer, self.topic_id)
        write_i16_be(writer, self.error_code)
        if version >= 5:
            write_compact_nullable_string(writer, self.error_message)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeletableTopicResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        name: str | None = reader.read_compact_nullable_string() if version >= 6 else (reader.read_compact_string() if version >= 4 else reader.read_string())
        topic_id: bytes = ZERO_UUID
        if version >= 6:
            topic_id = reader.read_uuid()
        error_code: int = reader.read_int16()
        error_message: str | None = None
        if version >= 5:
            error_message = reader.read_compact_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DeletableTopicResult(name, topic_id, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class DeleteTopicsResponse(Message):
    NAME: ClassVar[str] = "DeleteTopicsResponse"
    API_KEY: ClassVar[int] = 20
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 6
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32", versions=(1, 32767), ignorable=True),
        Field("responses", "Responses", "[]DeletableTopicResult", default=(), struct=DeletableTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[DeletableTopicResult] = [] if responses is EMPTY else responses
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 6:
            raise cannot_write("DeleteTopicsResponse", version)
        if version >= 1:
            write_i32_be(writer, self.throttle_time_ms)
        if version >= 4:
            write_uvarint(writer, len(self.responses) + 1)
        else:
            write_i32_be(writer, len(self.responses))
        for responses_item in self.responses:
            responses_item.write(writer, version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> DeleteTopicsResponse:
        if version < 0 or version > 6:
            raise cannot_read("DeleteTopicsResponse", version)
        throttle_time_ms: int = 0
        if version >= 1:
            throttle_time_ms = reader.read_int32()
        responses: list[DeletableTopicResult] = [DeletableTopicResult.read(reader, version) for _ in range(reader.read_compact_array_length(4, 146))] if version >= 4 else [DeletableTopicResult.read(reader, version) for _ in range(reader.read_array_length(4, 146))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = DeleteTopicsResponse(throttle_time_ms, responses)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> DeleteTopicsResponse:
        reader = Reader(data)
        message = DeleteTopicsResponse.read(reader, version)
        reader.expect_end()
        return message
