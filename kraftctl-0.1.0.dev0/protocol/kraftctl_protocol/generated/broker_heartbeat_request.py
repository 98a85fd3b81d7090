"""@generated from schemas/message/BrokerHeartbeatRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, read_i64_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, invalid_tag, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags


@mypyc_attr(acyclic=True, free_list_len=1)
class BrokerHeartbeatRequest(Message):
    NAME: ClassVar[str] = "BrokerHeartbeatRequest"
    API_KEY: ClassVar[int] = 63
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    LISTENERS: ClassVar[tuple[str, ...]] = ("controller",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64", default=-1),
        Field("current_metadata_offset", "CurrentMetadataOffset", "int64"),
        Field("want_fence", "WantFence", "bool", default=False),
        Field("want_shut_down", "WantShutDown", "bool", default=False),
        Field("offline_log_dirs", "OfflineLogDirs", "[]uuid", versions=(1, 32767), tagged=(1, 32767), tag=0, default=()),
        Field("cordoned_log_dirs", "CordonedLogDirs", "[]uuid", versions=(2, 32767), nullable=(2, 32767), tagged=(2, 32767), tag=1, default=None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = EMPTY,
        cordoned_log_dirs: list[bytes] | None = None,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.current_metadata_offset: int = current_metadata_offset
        self.want_fence: bool = want_fence
        self.want_shut_down: bool = want_shut_down
        self.offline_log_dirs: list[bytes] = [] if offline_log_dirs is EMPTY else offline_log_dirs
        self.cordoned_log_dirs: list[bytes] | None = cordoned_log_dirs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 2:
            raise cannot_write("BrokerHeartbeatRequest", version)
        write_i32_be(writer, self.broker_id)
        write_i64_be(writer, self.broker_epoch)
        write_i64_be(writer, self.current_metadata_offset)
        writer.append(1 if self.want_fence else 0)
        writer.append(1 if self.want_shut_down else 0)
        if version < 1 and self.offline_log_dirs:
            raise missing_field("OfflineLogDirs", version)
        if version < 2 and self.cordoned_log_dirs is not None:
            raise missing_field("CordonedLogDirs", version)
        if self.unknown_tagged_fields is None and not self.offline_log_dirs and self.cordoned_log_dirs is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if version >= 1 and self.offline_log_dirs:
                at = begin_tag(writer, 0)
                write_uvarint(writer, len(self.offline_log_dirs) + 1)
                for offline_log_dirs_item in self.offline_log_dirs:
                    write_uuid(writer, offline_log_dirs_item)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.cordoned_log_dirs is not None:
                at = begin_tag(writer, 1)
                write_uvarint(writer, len(self.cordoned_log_dirs) + 1)
                for cordoned_log_dirs_item in self.cordoned_log_dirs:
                    write_uuid(writer, cordoned_log_dirs_item)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerHeartbeatRequest:
        if version < 0 or version > 2:
            raise cannot_read("BrokerHeartbeatRequest", version)
        at = reader.take(22)
        buffer = reader.buffer
        broker_id: int = read_i32_be(buffer, at)
        broker_epoch: int = read_i64_be(buffer, at + 4)
        current_metadata_offset: int = read_i64_be(buffer, at + 12)
        want_fence: bool = buffer[at + 20] != 0
        want_shut_down: bool = buffer[at + 21] != 0
        offline_log_dirs: list[bytes] = []
        cordoned_log_dirs: list[bytes] | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                if version < 1:
                    raise invalid_tag("BrokerHeartbeatRequest", tag, version)
                offline_log_dirs = [reader.read_uuid() for _ in range(reader.read_compact_array_length(16, 74))]
            elif tag == 1:
                if version < 2:
                    raise invalid_tag("BrokerHeartbeatRequest", tag, version)
                cordoned_log_dirs = None if (length := reader.read_compact_nullable_array_length(16, 74)) < 0 else [reader.read_uuid() for _ in range(length)]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = BrokerHeartbeatRequest(broker_id, broker_epoch, current_metadata_offset, want_fence, want_shut_down, offline_log_dirs, cordoned_log_dirs)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BrokerHeartbeatRequest:
        reader = Reader(data)
        message = BrokerHeartbeatRequest.read(reader, version)
        reader.expect_end()
        return message
