"""BackgroundFile: lines for a file, written on a thread of its own: no disk stalls the loop.

What waits is bounded. Lines for which there is no room, or which the disk does not take, are left out and
counted: the log names the number, and so does a line of the file once one can be written.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from kraftctl.server.rotated_file import RotatedFile
from kraftctl_protocol.file_errors import next_step_of, reason_of

logger = logging.getLogger("kraftctl.server.log_files")

WAITING_BYTES_MAX = 16 * 1024 * 1024
"""Of lines that wait to be written: ten thousand and more."""

WRITE_BYTES_MAX = 1024 * 1024
"""Of one call: it succeeds or fails as a whole."""

LINGER_SECONDS = 0.05
"""How long lines are gathered before they are written: a call and a switch of threads for each cost more than
the lines do."""

CLOSE_SECONDS_MAX = 5.0
"""How long a stopping controller waits for a slow disk."""


class BackgroundFile:
    """`write` is called by any thread. `left_out_line` makes the line of the file with a number of lines."""

    def __init__(
        self,
        file: RotatedFile,
        left_out_line: Callable[[int], bytes],
        waiting_bytes_max: int = WAITING_BYTES_MAX,
    ) -> None:
        self._file = file
        self._left_out_line = left_out_line
        self._waiting_bytes_max = waiting_bytes_max
        self._lines: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._unreported_count = 0
        self._trouble: OSError | None = None
        self._thread: threading.Thread | None = None
        self.left_out_count = 0
        """Since the start."""

    def start(self) -> None:
        """Open the file; raises OSError."""
        self._file.open()
        self._thread = threading.Thread(target=self._run, name="log-file", daemon=True)
        self._thread.start()

    def write(self, line: bytes) -> None:
        """Write `line`, which ends with a newline, soon, or leave it out. Does not wait."""
        with self._changed:
            if self._waiting_bytes + len(line) > self._waiting_bytes_max:
                self._leave_out(1)
                return
            self._lines.append(line)
            self._waiting_bytes += len(line)
            if len(self._lines) == 1:
                self._changed.notify()

    def close(self) -> None:
        """Write what waits, if the disk takes it in time."""
        with self._changed:
            self._closing.set()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS_MAX)
            if self._thread.is_alive():
                logger.error("%s: the disk does not take the last lines", self._file.path)

    def _leave_out(self, count: int) -> None:
        self.left_out_count += count
        self._unreported_count += count

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._closing.is_set())
            self._closing.wait(LINGER_SECONDS)
            with self._changed:
                lines, taken_bytes = self._take()
            if not lines:
                break
            written = self._write(lines)
            with self._changed:
                self._waiting_bytes -= taken_bytes
                if not written:
                    self._leave_out(len(lines))
                elif self._unreported_count:
                    self._report()
        self._file.close()

    def _take(self) -> tuple[list[bytes], int]:
        lines: list[bytes] = []
        size_bytes = 0
        while self._lines and size_bytes < WRITE_BYTES_MAX:
            line = self._lines.popleft()
            lines.append(line)
            size_bytes += len(line)
        return lines, size_bytes

    def _report(self) -> None:
        """After lines that could be written: the number of those before that could not."""
        count, self._unreported_count = self._unreported_count, 0
        self._lines.appendleft(self._left_out_line(count))
        self._waiting_bytes += len(self._lines[0])

    def _write(self, lines: list[bytes]) -> bool:
        try:
            self._file.write(b"".join(lines))
        except OSError as error:
            if self._trouble is None:
                logger.error(
                    "%s cannot be written, its lines are left out until it can: %s. %s",
                    self._file.path,
                    reason_of(error),
                    next_step_of(error),
                )
            self._trouble = error
            return False
        if self._trouble is not None:
            logger.warning(
                "%s can be written again; %d lines were left out", self._file.path, self.left_out_count
            )
            self._trouble = None
        return True
