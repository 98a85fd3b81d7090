"""The journal that lying_disk.c keeps: one record for each call that changed or forced something."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

_HEADER = struct.Struct("<IB3xqQqIII")
"""As `struct header` of lying_disk.c."""


class Kind(IntEnum):
    """As `enum kind` of lying_disk.c."""

    STARTED = 1
    CREATE = 2
    WRITE = 3
    TRUNCATE = 4
    FSYNC_BEGIN = 5
    FSYNC_END = 6
    RENAME = 7
    UNLINK = 8
    LINK = 9
    MKDIR = 10
    RMDIR = 11
    STALLED = 12


@dataclass(frozen=True)
class Record:
    """`number` is a position, a size, the ticket of an fsync, or the milliseconds of a stall."""

    kind: Kind
    time_ns: int
    inode: int
    number: int
    path: str
    other: str
    """The second path; for a stall, the name of the call."""
    data: bytes
    size_bytes: int


def read_records(journal: bytes) -> Iterator[Record]:
    """Whole records from the start, without a torn one at the end that a killed process leaves."""
    at = 0
    while at + _HEADER.size <= len(journal):
        size, kind, time_ns, inode, number, path_size, other_size, data_size = _HEADER.unpack_from(
            journal, at
        )
        if at + size > len(journal):
            return
        path_at = at + _HEADER.size
        other_at = path_at + path_size
        data_at = other_at + other_size
        assert data_at + data_size == at + size, f"the journal is damaged at byte {at}"
        yield Record(
            Kind(kind),
            time_ns,
            inode,
            number,
            journal[path_at:other_at].decode(),
            journal[other_at:data_at].decode(),
            journal[data_at : at + size],
            size,
        )
        at += size
