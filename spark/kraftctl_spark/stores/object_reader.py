"""An object as a file, for readers of Parquet: a small one comes as a whole, of a large one what is read."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

FIRST_BYTES = 1024 * 1024
"""An object up to this size is one request."""


class ObjectReader(io.RawIOBase):
    """A file that cannot be written to. `get` returns some bytes, from a position on, and the whole size."""

    def __init__(self, where: str, get: Callable[[int, int], tuple[bytes, int]]) -> None:
        """Takes the URL, for messages."""
        super().__init__()
        self._where = where
        self._get = get
        self._start, self._size = get(0, FIRST_BYTES)
        self._position = 0

    def __str__(self) -> str:
        return self._where

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Returns `size` bytes; fewer at the end only."""
        end = self._size if size is None or size < 0 else min(self._position + size, self._size)
        if end <= self._position:
            return b""
        if end <= len(self._start):
            found = self._start[self._position : end]
        else:
            found, _ = self._get(self._position, end)
        self._position += len(found)
        return found

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)
