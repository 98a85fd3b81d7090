"""What standard output or standard error of a process may be, when what is written to it is not taken."""

from __future__ import annotations

import os
import pty
import re
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SECONDS_MAX = 30.0

FILLER = b"." * 1023 + b"\n"

CTRL_S, CTRL_Q = b"\x13", b"\x11"


@dataclass
class Output:
    """`descriptor` is for the process; None: closed. `reader` is the other end, if there is one."""

    descriptor: int | None
    reader: int | None = None
    begin_reading: Callable[[], object] = lambda: None
    _seen: str = field(default="", repr=False)

    def await_text(self, pattern: str) -> str:
        """Read until `pattern` is found; all since the last call."""
        assert self.reader is not None
        while (found := re.search(pattern, self._seen)) is None:
            assert select.select([self.reader], [], [], SECONDS_MAX)[0], (
                f"no {pattern}:\n{self._seen[-4000:]}"
            )
            data = os.read(self.reader, 1 << 16)
            assert data, f"it has ended without {pattern}:\n{self._seen[-4000:]}"
            self._seen += data.decode()
        seen, self._seen = self._seen[: found.end()], self._seen[found.end() :]
        return seen

    def rest(self) -> str:
        """All that is left, once the process has ended and this one has closed its end."""
        assert self.reader is not None
        parts = [self._seen]
        with suppress(OSError):
            while select.select([self.reader], [], [], 0)[0] and (data := os.read(self.reader, 1 << 16)):
                parts.append(data.decode())
        return "".join(parts)


def _fill(writer: int, *, blocking: bool = True) -> None:
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, FILLER)
    with suppress(BlockingIOError):
        while True:
            os.write(writer, b"\n")
    os.set_blocking(writer, blocking)


@contextmanager
def _closing(*descriptors: int) -> Iterator[None]:
    try:
        yield
    finally:
        for each in descriptors:
            with suppress(OSError):
                os.close(each)


@contextmanager
def full_pipe(directory: Path) -> Iterator[Output]:
    reader, writer = os.pipe()
    with _closing(reader, writer):
        _fill(writer)
        yield Output(writer, reader)


@contextmanager
def full_nonblocking_pipe(directory: Path) -> Iterator[Output]:
    """Another process that has the descriptor, too, has set O_NONBLOCK."""
    reader, writer = os.pipe()
    with _closing(reader, writer):
        _fill(writer, blocking=False)
        yield Output(writer, reader)


@contextmanager
def full_fifo(directory: Path) -> Iterator[Output]:
    path = directory / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(path, os.O_WRONLY)
    with _closing(reader, writer):
        _fill(writer)
        yield Output(writer, reader)


@contextmanager
def full_socket(directory: Path) -> Iterator[Output]:
    """As systemd's journal and some container runtimes."""
    reader, writer = socket.socketpair()
    with reader, writer:
        _fill(writer.fileno())
        yield Output(writer.fileno(), reader.fileno())


@contextmanager
def stopped_terminal(directory: Path) -> Iterator[Output]:
    """Ctrl-S was pressed; reading begins with Ctrl-Q."""
    master, slave = pty.openpty()
    with _closing(master, slave):
        os.write(master, CTRL_S)
        yield Output(slave, master, lambda: os.write(master, CTRL_Q))


@contextmanager
def pipe_without_reader(directory: Path) -> Iterator[Output]:
    """EPIPE."""
    reader, writer = os.pipe()
    os.close(reader)
    with _closing(writer):
        yield Output(writer)


@contextmanager
def terminal_that_is_gone(directory: Path) -> Iterator[Output]:
    """EIO."""
    master, slave = pty.openpty()
    os.close(master)
    with _closing(slave):
        yield Output(slave)


@contextmanager
def full_disk(directory: Path) -> Iterator[Output]:
    """ENOSPC."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    with _closing(descriptor):
        yield Output(descriptor)


@contextmanager
def closed(directory: Path) -> Iterator[Output]:
    """`>&-`."""
    yield Output(None)


NOT_READ = {
    "a-full-pipe": full_pipe,
    "a-full-nonblocking-pipe": full_nonblocking_pipe,
    "a-full-fifo": full_fifo,
    "a-full-socket": full_socket,
    "a-stopped-terminal": stopped_terminal,
}
"""Writing waits, or would wait. Reading may begin later."""

GONE = {
    "a-pipe-without-reader": pipe_without_reader,
    "a-terminal-that-is-gone": terminal_that_is_gone,
    "a-full-disk": full_disk,
    "closed": closed,
}
"""Writing fails."""

CLOSED = "closed"
