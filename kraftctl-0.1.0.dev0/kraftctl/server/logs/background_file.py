"""BackgroundFile writes lines on a thread of its own: no disk and no reader stalls the loop.

The waiting lines are bounded. Lines for which there is no room, or which the file does not take, are left
out and counted: a line in their place has the number.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from kraftctl.server.process.clock import Clock
from kraftctl_protocol.file_errors import next_step_of, reason_of

logger = logging.getLogger("kraftctl.server.log_files")

WAITING_BYTES_MAX: Final = 16 * 1024 * 1024
"""The limit of waiting lines: ten thousand and more."""

LINE_OVERHEAD_BYTES: Final = 64
"""The memory of a line besides its bytes: its object, and its place among those that wait."""

WRITE_BYTES_MAX: Final = 1024 * 1024
"""The size of one call for a file of our own: it succeeds or fails as a whole."""

LINGER_SECONDS: Final = 0.05
"""Lines are gathered for this long before they are written: a call and a switch of threads for each cost
more than the lines do."""

CLOSE_STEP_SECONDS: Final = 2.0
"""A process that stops waits no longer than this for a file that takes nothing."""

CLOSE_STEPS_MAX: Final = 3
"""It waits for at most this many such steps when the file takes some lines in each."""


class LineFile(Protocol):
    """A file that one thread at a time uses. `open` and `write` raise OSError, and may wait."""

    @property
    def path(self) -> object:
        """The name of the file for messages."""
        ...

    kept_bytes: int
    """The bytes that the file has of the call that failed last; whole lines."""

    def open(self) -> None: ...

    def write(self, lines: bytes) -> None: ...

    def close(self) -> None: ...


class LeftOut:
    """A gap: how many lines are missing, since when, and why. Without a reason, there was no room."""

    __slots__ = ("count", "reason", "since_wall_ms")

    def __init__(self, count: int, since_wall_ms: int, reason: str = "") -> None:
        self.count = count
        self.since_wall_ms = since_wall_ms
        self.reason = reason


class BackgroundFile:
    """A file whose `write` any thread may call. `left_out_line` makes the line in place of others.

    `has_log`: it is the log itself. Then no line about its faults is logged, and at the end the last lines,
    of which one may be the reason, precede older ones that wait.
    """

    def __init__(
        self,
        file: LineFile,
        left_out_line: Callable[[LeftOut], bytes],
        waiting_bytes_max: int = WAITING_BYTES_MAX,
        *,
        write_bytes_max: int = WRITE_BYTES_MAX,
        has_log: bool = False,
    ) -> None:
        self._file = file
        self._left_out_line = left_out_line
        self._waiting_bytes_max = waiting_bytes_max
        self._write_bytes_max = write_bytes_max
        self._has_log = has_log
        self._wall_ms = Clock().wall_ms
        self._waiting: deque[bytes | LeftOut] = deque()
        self._waiting_bytes = 0
        self._missing: LeftOut | None = None
        """The lines before the waiting ones that the file did not take."""
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._writes_count = 0
        self._trouble: OSError | None = None
        self._thread: threading.Thread | None = None
        self.left_out_count = 0
        """The number of lines left out since the start."""

    def start(self) -> None:
        """Opens the file; raises OSError."""
        self._file.open()
        self._thread = threading.Thread(target=self._run, name="log-file", daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        """Writes `line`, which ends with a newline, soon, or leaves it out. It does not wait."""
        size_bytes = len(line) + LINE_OVERHEAD_BYTES
        with self._changed:
            if self._waiting_bytes + size_bytes > self._waiting_bytes_max:
                self._leave_out_last()
                return
            self._waiting.append(line)
            self._waiting_bytes += size_bytes
            if len(self._waiting) == 1:
                self._changed.notify()

    def close(self) -> bool:
        """Writes waiting lines, and returns whether the file took them: a disk or a reader may be slow,
        or stuck.
        """
        before = self._writes_count
        with self._changed:
            self._closing.set()
            self._changed.notify()
        if self._thread is None:
            return True
        for _ in range(CLOSE_STEPS_MAX):
            self._thread.join(CLOSE_STEP_SECONDS)
            if not self._thread.is_alive():
                return True
            if self._writes_count == before:
                break
            before = self._writes_count
            if self._has_log:
                self._leave_out_old()
        if not self._has_log:
            logger.error("%s: the disk does not take the last lines", self._file.path)
        return False

    def _leave_out_last(self) -> None:
        """Leaves out a line for which there is no room."""
        self.left_out_count += 1
        last = self._waiting[-1] if self._waiting else None
        if isinstance(last, LeftOut):
            last.count += 1
        else:
            self._waiting.append(LeftOut(1, self._wall_ms()))
            self._changed.notify()

    def _leave_out_old(self) -> None:
        """Leaves out the lines that wait, except for those that the next call takes."""
        last: deque[bytes | LeftOut] = deque()
        size_bytes = count = 0
        with self._changed:
            while self._waiting and size_bytes < self._write_bytes_max:
                last.appendleft(line := self._waiting.pop())
                size_bytes += 0 if isinstance(line, LeftOut) else len(line)
            for line in self._waiting:
                if isinstance(line, LeftOut):
                    count += line.count
                else:
                    count += 1
                    self.left_out_count += 1
                    self._waiting_bytes -= len(line) + LINE_OVERHEAD_BYTES
            if count:
                last.appendleft(LeftOut(count, self._wall_ms()))
            self._waiting = last

    def _run(self) -> None:
        is_last = False
        while not is_last:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing.is_set())
                is_backlog = self._waiting_bytes >= self._write_bytes_max
            if not is_backlog:
                self._closing.wait(LINGER_SECONDS)
            with self._changed:
                missing, lines, taken_bytes = self._take()
                is_last = self._closing.is_set() and not self._waiting
            if missing or lines:
                self._write_or_leave_out(missing, lines)
            with self._changed:
                self._waiting_bytes -= taken_bytes
        self._file.close()

    def _take(self) -> tuple[LeftOut | None, list[bytes], int]:
        """Takes the gap before the next lines, and lines up to the next gap, with their memory."""
        missing, self._missing = self._missing, None
        if self._waiting and isinstance(gap := self._waiting[0], LeftOut):
            self._waiting.popleft()
            missing = gap if missing is None else _joined(missing, gap)
        lines: list[bytes] = []
        size_bytes = taken_bytes = 0
        while self._waiting and size_bytes < self._write_bytes_max:
            line = self._waiting[0]
            if isinstance(line, LeftOut):
                break
            self._waiting.popleft()
            lines.append(line)
            size_bytes += len(line)
            taken_bytes += len(line) + LINE_OVERHEAD_BYTES
        return missing, lines, taken_bytes

    def _write_or_leave_out(self, missing: LeftOut | None, lines: list[bytes]) -> None:
        blocks = lines if missing is None else [self._left_out_line(missing), *lines]
        error = self._write(blocks)
        if error is None:
            return
        kept_count = _whole_count(blocks, self._file.kept_bytes)
        if missing is not None:
            kept_count -= 1
        lost_count = len(lines) - max(0, kept_count)
        gap = LeftOut(lost_count, self._wall_ms(), error.strerror or str(error))
        with self._changed:
            self.left_out_count += lost_count
            if kept_count < 0 and missing is not None:
                gap = _joined(missing, gap)
            # Written with the next line, or at the end: what takes nothing is not tried again and again.
            self._missing = gap if gap.count else None

    def _write(self, lines: list[bytes]) -> OSError | None:
        try:
            self._file.write(b"".join(lines))
        except OSError as error:
            if self._trouble is None and not self._has_log:
                logger.error(
                    "%s cannot be written, its lines are left out until it can: %s. %s",
                    self._file.path,
                    reason_of(error),
                    next_step_of(error),
                )
            self._trouble = error
            return error
        self._writes_count += 1
        if self._trouble is not None and not self._has_log:
            logger.warning(
                "%s can be written again; %d lines were left out", self._file.path, self.left_out_count
            )
        self._trouble = None
        return None


def _joined(first: LeftOut, second: LeftOut) -> LeftOut:
    return LeftOut(first.count + second.count, first.since_wall_ms, second.reason or first.reason)


def _whole_count(lines: list[bytes], size_bytes: int) -> int:
    """Returns how many whole lines are in `size_bytes`."""
    count = 0
    for line in lines:
        size_bytes -= len(line)
        if size_bytes < 0:
            break
        count += 1
    return count
