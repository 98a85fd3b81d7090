"""The output of a command: a reader that goes away (`| head`), a full disk, and descriptors that do not
block.

A command that changes something finishes without a reader, as Kafka's tools do: half of a change is worse
than lost output. A command that only prints ends.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

READER_GONE_STATUS = 141
"""A shell reports a process that SIGPIPE has ended with this status: 128 and its number."""

BUFFER_BYTES = 64 * 1024


class OutputEndedError(Exception):
    """The reader is gone, and the command has nothing else to do. It is not an OSError, which commands
    report.
    """


class PartlyWrittenError(OSError):
    """A write failed; `error` is that of the call, and a part was written before."""

    def __init__(self, error: OSError, written_bytes: int) -> None:
        super().__init__(error.errno, error.strerror)
        self.written_bytes = written_bytes


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of it, as soon as there is room: also where another process has set O_NONBLOCK.

    Raises PartlyWrittenError.
    """
    position = 0
    rest = memoryview(data)
    while position < len(data):
        try:
            position += os.write(descriptor, rest[position:])
        except BlockingIOError:
            _await_room(descriptor)
        except OSError as error:
            raise PartlyWrittenError(error, position) from error


def _await_room(descriptor: int) -> None:
    """Waits for room, or for the end of the reader, which the next call reports."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


class GuardedOutput(io.RawIOBase):
    """Writes to a descriptor without closing it. After a failure, further output is dropped."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self.error: OSError | None = None
        """The first error of a write."""
        self.ends_without_reader = False
        """Whether the end of the reader ends the command, by OutputEndedError."""

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        taken = bytes(data)
        if self.error is None:
            try:
                write_whole(self._descriptor, taken)
            except OSError as error:
                self.error = error
                if self.ends_without_reader and error.errno == errno.EPIPE:
                    raise OutputEndedError from error
        return len(taken)


@contextmanager
def guarded(command: str) -> Iterator[GuardedOutput | None]:
    """Standard output and standard error of the process are written like this meanwhile.

    None without a standard output. Raises SystemExit: with READER_GONE_STATUS after OutputEndedError, with 1
    when standard output failed otherwise; then standard error has the reason.
    """
    before = sys.stdout, sys.stderr
    output = _guarded_output(before[0])
    error = _guarded_output(before[1])
    if output is not None:
        sys.stdout = _text_of(output, before[0])
    if error is not None:
        sys.stderr = _text_of(error, before[1])
    try:
        try:
            yield output
        except OutputEndedError:
            raise SystemExit(READER_GONE_STATUS) from None
        finally:
            _flush(output)
            if output is not None and output.error is not None and output.error.errno != errno.EPIPE:
                print(f"{command}: cannot write to standard output: {output.error.strerror}", file=sys.stderr)
                raise SystemExit(1)
    finally:
        if error is not None:
            sys.stderr.flush()
        sys.stdout, sys.stderr = before


def _flush(output: GuardedOutput | None) -> None:
    if output is not None:
        output.ends_without_reader = False
        sys.stdout.flush()


def _guarded_output(stream: TextIO | None) -> GuardedOutput | None:
    descriptor = descriptor_of(stream)
    return None if descriptor is None else GuardedOutput(descriptor)


def _text_of(output: GuardedOutput, stream: TextIO) -> TextIO:
    """Wraps a descriptor with the encoding of `stream`; a part of a line is written immediately at a
    terminal.
    """
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(output, BUFFER_BYTES),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=getattr(stream, "line_buffering", False),
    )


def descriptor_of(stream: TextIO | None) -> int | None:
    """Returns None where it was closed before the process began, or has no descriptor."""
    try:
        return None if stream is None else stream.fileno()
    except (OSError, ValueError):
        return None
