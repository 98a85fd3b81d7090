"""@generated from schemas/metadata/ZkMigrationStateRecord.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    Reader,
    Writer,
    write_int8,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields


@mypyc_attr(acyclic=True, free_list_len=1)
class ZkMigrationStateRecord(Message):
    NAME: ClassVar[str] = "ZkMigrationStateRecord"
    API_KEY: ClassVar[int] = 21
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("zk_migration_state", "ZkMigrationState", "int8"),
    )

    def __init__(
        self,
        zk_migration_state: int = 0,
    ) -> None:
        self.zk_migration_state: int = zk_migration_state
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version != 0:
            raise cannot_write("ZkMigrationStateRecord", version)
        write_int8(writer, self.zk_migration_state)
        if self.unknown_tagged_fields is None:
            writer.append(0)
        else:
            write_tagged_fields(writer, [], self.unknown_tagged_fields)

    @staticmethod
    def read(reader: Reader, version: i64) -> ZkMigrationStateRecord:
        if version != 0:
            raise cannot_read("ZkMigrationStateRecord", version)
        zk_migration_state: int = reader.read_int8()
        unknown = reader.read_unknown_tagged_fields()
        message = ZkMigrationStateRecord(zk_migration_state)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> ZkMigrationStateRecord:
        reader = Reader(data)
        message = ZkMigrationStateRecord.read(reader, version)
        reader.expect_end()
        return message
