"""What `open` returns for a simulated file: Python's own buffers and text layer over a descriptor."""

from __future__ import annotations

import io
import os
from typing import IO, Any


class DescriptorFile(io.RawIOBase):
    """Like io.FileIO, by the functions of `os`."""

    def __init__(self, descriptor: int, mode: str, closes: bool) -> None:
        super().__init__()
        self.mode = mode
        self.name = descriptor
        self._descriptor = descriptor
        self._closes = closes

    def fileno(self) -> int:
        return self._descriptor

    def readable(self) -> bool:
        return "r" in self.mode or "+" in self.mode

    def writable(self) -> bool:
        return "r" not in self.mode or "+" in self.mode

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = os.read(self._descriptor, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return os.read(self._descriptor, os.fstat(self._descriptor).st_size)

    def write(self, data: Any) -> int:
        return os.write(self._descriptor, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return os.lseek(self._descriptor, offset, whence)

    def tell(self) -> int:
        return os.lseek(self._descriptor, 0, os.SEEK_CUR)

    def truncate(self, size: int | None = None) -> int:
        size_bytes = self.tell() if size is None else size
        os.ftruncate(self._descriptor, size_bytes)
        return size_bytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            if self._closes:
                os.close(self._descriptor)


def flags_of(mode: str) -> int:
    """As `open` of a file in `mode` opens it."""
    access = os.O_RDWR if "+" in mode else os.O_RDONLY if "r" in mode else os.O_WRONLY
    created = {
        "r": 0,
        "w": os.O_CREAT | os.O_TRUNC,
        "a": os.O_CREAT | os.O_APPEND,
        "x": os.O_CREAT | os.O_EXCL,
    }
    return access | created[next(letter for letter in mode if letter in created)]


def file_object(
    descriptor: int,
    mode: str,
    buffering: int,
    encoding: str | None,
    errors: str | None,
    newline: str | None,
    closes: bool,
) -> IO[Any]:
    """As the built-in `open` makes it of a descriptor."""
    raw = DescriptorFile(descriptor, mode.replace("b", "").replace("t", ""), closes)
    if buffering == 0:
        return raw  # type: ignore[return-value]
    buffered: Any
    if "+" in mode:
        buffered = io.BufferedRandom(raw)
    elif "r" in mode:
        buffered = io.BufferedReader(raw)
    else:
        buffered = io.BufferedWriter(raw)
    if "b" in mode:
        return buffered
    text = io.TextIOWrapper(buffered, encoding, errors, newline, line_buffering=buffering == 1)
    text.mode = mode  # type: ignore[misc]
    return text
