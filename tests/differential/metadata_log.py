"""Reads what a controller has appended to its log, as it appears on disk."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from tests.differential.codec import Body, Reader, Undecodable, decode
from tests.differential.schemas import Schemas

SEGMENT = "00000000000000000000.log"
OVERHEAD_BYTES = 12
"""Base offset and length, before what the length counts."""

CONTROL = 0x20


@dataclass(frozen=True)
class LoggedRecord:
    """One metadata record, decoded."""

    name: str
    version: int
    body: Body
    offset: int


class LogTail:
    """Reads a log from its beginning, a part at a time."""

    def __init__(self, partition_directory: Path, schemas: Schemas) -> None:
        self._file = partition_directory / SEGMENT
        self._schemas = schemas
        self._position = 0
        self.end_offset = 0
        self.leader_epoch = 0

    def more(self) -> list[list[LoggedRecord]]:
        """Returns the batches that are complete since the last call, without control batches."""
        try:
            with open(self._file, "rb") as file:
                file.seek(self._position)
                data = file.read()
        except FileNotFoundError:
            return []
        found = []
        at = 0
        while at + OVERHEAD_BYTES <= len(data):
            base_offset, length = struct.unpack_from(">qi", data, at)
            if length == 0 or at + OVERHEAD_BYTES + length > len(data):
                break
            batch = data[at : at + OVERHEAD_BYTES + length]
            at += OVERHEAD_BYTES + length
            self.end_offset = base_offset + struct.unpack_from(">i", batch, 23)[0] + 1
            self.leader_epoch = struct.unpack_from(">i", batch, 12)[0]
            if not struct.unpack_from(">h", batch, 21)[0] & CONTROL:
                found.append(self._records(base_offset, batch))
        self._position += at
        return found

    def _records(self, base_offset: int, batch: bytes) -> list[LoggedRecord]:
        reader = Reader(batch)
        reader.position = 57
        found = []
        for index in range(reader.integer(4)):
            record = Reader(reader.take(reader.signed_varint()))
            record.take(1)
            record.signed_varint()
            record.signed_varint()
            record.take(max(0, record.signed_varint()))
            value = Reader(record.take(record.signed_varint()))
            if value.varint() != 1:
                raise Undecodable("a frame version other than 1")
            key, version = value.varint(), value.varint()
            schema = self._schemas.records[key]
            body = decode(schema, version, value)
            if value.left:
                raise Undecodable(f"{value.left} bytes behind a {schema.name}")
            found.append(LoggedRecord(schema.name, version, body, base_offset + index))
        return found
