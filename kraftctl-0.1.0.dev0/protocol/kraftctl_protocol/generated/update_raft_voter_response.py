"""@generated from schemas/message/UpdateRaftVoterResponse.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i16_be, read_i32_be, write_i16_be, write_i32_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_compact_string,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags, write_tagged_fields


@mypyc_attr(acyclic=True)
class CurrentLeader(Message):
    NAME: ClassVar[str] = "CurrentLeader"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("leader_id", "LeaderId", "int32", default=-1),
        Field("leader_epoch", "LeaderEpoch", "int32", default=-1),
        Field("host", "Host", "string", default=""),
        Field("port", "Port", "int32"),
    )

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.host: str = host
        self.port: int = port
        self.unknown_tagged_fields = None

    def is_default(self) -> bool:
        return (
            not self.unknown_tagged_fields
            and self.leader_id == -1
            and self.leader_epoch == -1
            and self.host == ""
            and self.port == 0
        )

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.leader_id)
        write_i32_be(writer, self.leader_epoch)
        write_compact_string(writer, self.host)
        write_i32_be(writer, self.port)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> CurrentLeader:
        at = reader.take(8)
        buffer = reader.buffer
        leader_id: int = read_i32_be(buffer, at)
        leader_epoch: int = read_i32_be(buffer, at + 4)
        host: str = reader.read_compact_string()
        port: int = reader.read_int32()
        unknown = reader.read_unknown_tagged_fields()
        message = CurrentLeader(leader_id, leader_epoch, host, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class UpdateRaftVoterResponse(Message):
    NAME: ClassVar[str] = "UpdateRaftVoterResponse"
    API_KEY: ClassVar[int] = 82
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("throttle_time_ms", "ThrottleTimeMs", "int32"),
        Field("error_code", "ErrorCode", "int16"),
        Field("current_leader", "CurrentLeader", "CurrentLeader", tagged=(0, 32767), tag=0, default=(), struct=CurrentLeader),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.current_leader: CurrentLeader = CurrentLeader() if current_leader is None else current_leader
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("UpdateRaftVoterResponse", version)
        write_i32_be(writer, self.throttle_time_ms)
        write_i16_be(writer, self.error_code)
        if self.unknown_tagged_fields is None and self.current_leader.is_default():
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if not self.current_leader.is_default():
                at = begin_tag(writer, 0)
                self.current_leader.write(writer, version)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> UpdateRaftVoterResponse:
        if version != 0:
            raise cannot_read("UpdateRaftVoterResponse", version)
        at = reader.take(6)
        buffer = reader.buffer
        throttle_time_ms: int = read_i32_be(buffer, at)
        error_code: int = read_i16_be(buffer, at + 4)
        current_leader: CurrentLeader = CurrentLeader()
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                current_leader = CurrentLeader.read(reader, version)
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = UpdateRaftVoterResponse(throttle_time_ms, error_code, current_leader)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> UpdateRaftVoterResponse:
        reader = Reader(data)
        message = UpdateRaftVoterResponse.read(reader, version)
        reader.expect_end()
        return message
