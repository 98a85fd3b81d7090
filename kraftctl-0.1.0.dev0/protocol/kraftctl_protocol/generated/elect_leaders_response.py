"""@generated from schemas/message/ElectLeadersResponse.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_nullable_string,
    write_string,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True)
class PartitionResult(Message):
    NAME: ClassVar[str] = "PartitionResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partition_id", "PartitionId", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("error_message", "ErrorMessage", "string", nullable=(0, 32767), default=""),
    )

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id: int = partition_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.partition_id)
        write_i16_be(writer, self.error_code)
        if version >= 2:
            write_compact_nullable_string(writer, self.error_message)
        else:
            write_nullable_string(writer, self.error_message)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> PartitionResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        at = reader.take(6)
        buffer = reader.buffer
        partition_id: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        error_message: str | None = reader.read_compact_nullable_string() if version >= 2 else reader.read_nullable_string()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = PartitionResult(partition_id, error_code, error_message)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class ReplicaElectionResult(Message):
    NAME: ClassVar[str] = "ReplicaElectionResult"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic", "Topic", "string", default=""),
        Field("partition_result", "PartitionResult", "[]PartitionResult", default=(), struct=PartitionResult),
    )

    def __init__(
        self,
        topic: str = "",
        partition_result: list[PartitionResult] = EMPTY,
    ) -> None:
        self.topic: str = topic
        self.partition_result: list[PartitionResult] = [] if partition_result is EMPTY else partition_result
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 2:
            write_compact_string(writer, self.topic)
        else:
            write_string(writer, self.topic)
        if version >= 2:
            write_uvarint(writer, len(self.partition_result) + 1)
        else:
            write_i32_be(writer, len(self.partition_result))
        for partition_result_item in self.partition_result:
            partition_result_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ReplicaElectionResult:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic: str = reader.read_compact_string() if version >= 2 else reader.read_string()
        partition_result: list[PartitionResult] = [PartitionResult.read(reader, version) for _ in range(reader.read_compact_array_length(8, 74))] if version >= 2 else [PartitionResult.read(reader, version) for _ in range(reader.read_array_length(8, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = ReplicaElectionResult(topic, partition_result)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class ElectLeadersResponse(Message):
    NAME: ClassVar[str] = "ElectLeadersResponse"
    API_KEY: ClassVar[int] = 43
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16", versions=(1, 32767)),
        Field("replica_election_results", "ReplicaElectionResults", "[]ReplicaElectionResult", default=(), struct=ReplicaElectionResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.replica_election_results: list[ReplicaElectionResult] = [] if replica_election_results is EMPTY else replica_election_results
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("ElectLeadersResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        if version >= 1:
            write_i16_be(writer, self.error_code)
        elif self.error_code != 0:
            raise missing_field("ErrorCode", version)
        if version >= 2:
            write_uvarint(writer, len(self.replica_election_results) + 1)
        else:
            write_i32_be(writer, len(self.replica_election_results))
        for replica_election_results_item in self.replica_election_results:
            replica_election_results_item.write(writer, version)
        if version >= 2:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> ElectLeadersResponse:
        if version < 0 or version > 2:
            raise cannot_read("ElectLeadersResponse", version)
        throttle_time_ms: int = reader.read_int32()
        error_code: int = 0
        if version >= 1:
            error_code = reader.read_int16()
        replica_election_results: list[ReplicaElectionResult] = [ReplicaElectionResult.read(reader, version) for _ in range(reader.read_compact_array_length(3, 130))] if version >= 2 else [ReplicaElectionResult.read(reader, version) for _ in range(reader.read_array_length(6, 130))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 2:
            unknown = reader.read_unknown_tagged_fields()
        message = ElectLeadersResponse(throttle_time_ms, error_code, replica_election_results)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ElectLeadersResponse:
        reader = Reader(data)
        message = ElectLeadersResponse.read(reader, version)
        reader.expect_end()
        return message
