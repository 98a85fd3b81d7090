"""A sparse index file of a segment: entries of a fixed size, kept in memory and written for Kafka's tools.

The file of the active segment is preallocated and trimmed when the segment ends. Recovery writes it again
from the log when it differs.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from pathlib import Path
from typing import Final

from kraftctl.storage.durable_files import FILE_MODE, write_all_at
from kraftctl.storage.errors import cannot

CLOSED: Final = -1

INDEX_BYTES_MAX = 10 * 1024 * 1024
"""The size of Kafka's segment.index.bytes."""


class IndexFile:
    """Two columns of equal length; the offsets rise strictly, and subclasses encode an entry.

    Methods that use the file raise StorageError.
    """

    def __init__(self, path: Path, base_offset: int, size_bytes_max: int, entry: struct.Struct) -> None:
        self.path = path
        self.base_offset = base_offset
        self.offsets = array("q")
        self.values = array("q")
        """The positions in an offset index, the timestamps in a time index."""
        self._entry = entry
        self._entries_max = size_bytes_max // entry.size
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        except OSError as error:
            raise cannot("open", path, error) from error

    def __len__(self) -> int:
        return len(self.offsets)

    def write_entries_from(self, count: int) -> None:
        """Writes all but the first `count` entries to the file, if there are more."""
        if count < len(self.offsets):
            try:
                write_all_at(self._descriptor, self.encoded(count), count * self._entry.size)
            except OSError as error:
                raise cannot("write", self.path, error) from error

    def truncate_to(self, offset: int) -> None:
        """Forgets entries at or above `offset`."""
        keep = bisect_left(self.offsets, offset)
        del self.offsets[keep:]
        del self.values[keep:]

    def write_file(self, preallocate: bool) -> None:
        """Makes the file hold exactly the entries, and room for more when `preallocate`."""
        self._set_size(0)
        try:
            write_all_at(self._descriptor, self.encoded(), 0)
        except OSError as error:
            raise cannot("write", self.path, error) from error
        if preallocate:
            self.preallocate()

    def file_is_current(self) -> bool:
        """Returns whether the file holds exactly the entries in memory and nothing else."""
        encoded = self.encoded()
        try:
            if os.fstat(self._descriptor).st_size != len(encoded):
                return False
            return os.pread(self._descriptor, len(encoded), 0) == encoded
        except OSError as error:
            raise cannot("read", self.path, error) from error

    def preallocate(self) -> None:
        self._set_size(self._entries_max * self._entry.size)

    def trim(self) -> None:
        """Cuts the file after the last entry, as Kafka does when a segment is rolled or closed."""
        self._set_size(len(self.offsets) * self._entry.size)

    def _set_size(self, size_bytes: int) -> None:
        try:
            os.ftruncate(self._descriptor, size_bytes)
        except OSError as error:
            raise cannot("set the size of", self.path, error) from error

    def close(self) -> None:
        """Closes the file, once, with its segment."""
        descriptor, self._descriptor = self._descriptor, CLOSED
        if descriptor != CLOSED:
            os.close(descriptor)

    def encoded(self, start: int = 0) -> bytes:
        """Returns the entries from number `start` on, as the file holds them."""
        raise AssertionError("overridden by both indexes")
