"""@generated from schemas/metadata/BrokerRegistrationChangeRecord.json by `python -m kraftctl_codegen`; edit that instead."""

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
    write_int8,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import begin_tag, begin_tags, end_tag, end_tags


@mypyc_attr(acyclic=True, free_list_len=1)
class BrokerRegistrationChangeRecord(Message):
    NAME: ClassVar[str] = "BrokerRegistrationChangeRecord"
    API_KEY: ClassVar[int] = 17
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64"),
        Field("fenced", "Fenced", "int8", tagged=(0, 32767), tag=0),
        Field("in_controlled_shutdown", "InControlledShutdown", "int8", versions=(1, 32767), tagged=(1, 32767), tag=1),
        Field("log_dirs", "LogDirs", "[]uuid", versions=(2, 32767), tagged=(2, 32767), tag=2, default=()),
        Field("cordoned_log_dirs", "CordonedLogDirs", "[]uuid", versions=(3, 32767), nullable=(3, 32767), tagged=(3, 32767), tag=3, default=None),
    )

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[bytes] = EMPTY,
        cordoned_log_dirs: list[bytes] | None = None,
    ) -> None:
        self.broker_id: int = broker_id
        self.broker_epoch: int = broker_epoch
        self.fenced: int = fenced
        self.in_controlled_shutdown: int = in_controlled_shutdown
        self.log_dirs: list[bytes] = [] if log_dirs is EMPTY else log_dirs
        self.cordoned_log_dirs: list[bytes] | None = cordoned_log_dirs
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 3:
            raise cannot_write("BrokerRegistrationChangeRecord", version)
        write_i32_be(writer, self.broker_id)
        write_i64_be(writer, self.broker_epoch)
        if version < 1 and self.in_controlled_shutdown != 0:
            raise missing_field("InControlledShutdown", version)
        if version < 2 and self.log_dirs:
            raise missing_field("LogDirs", version)
        if version < 3 and self.cordoned_log_dirs is not None:
            raise missing_field("CordonedLogDirs", version)
        if self.unknown_tagged_fields is None and self.fenced == 0 and self.in_controlled_shutdown == 0 and not self.log_dirs and self.cordoned_log_dirs is None:
            writer.append(0)
        else:
            start = begin_tags(writer)
            count: i64 = 0
            if self.fenced != 0:
                at = begin_tag(writer, 0)
                write_int8(writer, self.fenced)
                end_tag(writer, at)
                count += 1
            if version >= 1 and self.in_controlled_shutdown != 0:
                at = begin_tag(writer, 1)
                write_int8(writer, self.in_controlled_shutdown)
                end_tag(writer, at)
                count += 1
            if version >= 2 and self.log_dirs:
                at = begin_tag(writer, 2)
                write_uvarint(writer, len(self.log_dirs) + 1)
                for log_dirs_item in self.log_dirs:
                    write_uuid(writer, log_dirs_item)
                end_tag(writer, at)
                count += 1
            if version >= 3 and self.cordoned_log_dirs is not None:
                at = begin_tag(writer, 3)
                write_uvarint(writer, len(self.cordoned_log_dirs) + 1)
                for cordoned_log_dirs_item in self.cordoned_log_dirs:
                    write_uuid(writer, cordoned_log_dirs_item)
                end_tag(writer, at)
                count += 1
            end_tags(writer, start, count, self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> BrokerRegistrationChangeRecord:
        if version < 0 or version > 3:
            raise cannot_read("BrokerRegistrationChangeRecord", version)
        at = reader.take(12)
        buffer = reader.buffer
        broker_id: int = read_i32_be(buffer, at)
        broker_epoch: int = read_i64_be(buffer, at + 4)
        fenced: int = 0
        in_controlled_shutdown: int = 0
        log_dirs: list[bytes] = []
        cordoned_log_dirs: list[bytes] | None = None
        unknown: list[tuple[int, bytes]] | None = None
        count = reader.read_tag_count()
        while count > 0:
            count -= 1
            tag = reader.read_uvarint()
            end = reader.begin_tagged_field()
            if tag == 0:
                fenced = reader.read_int8()
            elif tag == 1:
                if version < 1:
                    raise invalid_tag("BrokerRegistrationChangeRecord", tag, version)
                in_controlled_shutdown = reader.read_int8()
            elif tag == 2:
                if version < 2:
                    raise invalid_tag("BrokerRegistrationChangeRecord", tag, version)
                log_dirs = [reader.read_uuid() for _ in range(reader.read_compact_array_length(16, 74))]
            elif tag == 3:
                if version < 3:
                    raise invalid_tag("BrokerRegistrationChangeRecord", tag, version)
                cordoned_log_dirs = None if (length := reader.read_compact_nullable_array_length(16, 74)) < 0 else [reader.read_uuid() for _ in range(length)]
            else:
                if unknown is None:
                    unknown = []
                size = end - reader.position
                unknown.append((tag, reader.read_unknown_tagged_field(size)))
            reader.end_tagged_field(end)
        message = BrokerRegistrationChangeRecord(broker_id, broker_epoch, fenced, in_controlled_shutdown, log_dirs, cordoned_log_dirs)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> BrokerRegistrationChangeRecord:
        reader = Reader(data)
        message = BrokerRegistrationChangeRecord.read(reader, version)
        reader.expect_end()
        return message
