"""Child processes that end with their parent; their output goes to a file, and its lines can be awaited."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path

LINES_KEPT_MAX = 50_000
"""The number of lines in memory per process; the file has them all."""

LAST_LINES_SHOWN = 40

PR_SET_PDEATHSIG = 1


class ProcessFailedError(Exception):
    """A child ended or did not print a line in time; the message ends with its last lines."""


class ManagedProcess:
    """One child process.

    It gets its own process group, so that Ctrl-C in a terminal reaches only the parent, which decides the
    order in which children end. Not its own session: Linux schedules each session as a group, and beside two
    others on two processors a controller then waited up to 140 ms for one. On Linux the kernel kills it when
    the thread that started it ends: start it from the main thread.
    """

    def __init__(
        self, name: str, command: list[str], log_file: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.log_file = log_file
        self.exit_code: int | None = None
        self._lines: deque[str] = deque(maxlen=LINES_KEPT_MAX)
        self._lines_count = 0
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            process_group=0,
            preexec_fn=_die_with_parent,
        )
        self._reader = threading.Thread(target=self._read_output, name=f"output-of-{name}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def lines(self) -> list[str]:
        """Returns what it has printed so far, oldest first."""
        with self._changed:
            return list(self._lines)

    def await_line(self, pattern: str, timeout_s: float) -> str:
        """Returns the first line, past or future, in which `pattern` (a regular expression) is found.

        Raises ProcessFailedError when the process ends or `timeout_s` passes without one.
        """
        matcher = re.compile(pattern)
        found: str | None = None
        seen = 0

        def look() -> bool:
            nonlocal found, seen
            fresh = min(self._lines_count - seen, len(self._lines))
            seen = self._lines_count
            for index in range(len(self._lines) - fresh, len(self._lines)):
                if matcher.search(self._lines[index]):
                    found = self._lines[index]
                    return True
            return self.exit_code is not None

        with self._changed:
            self._changed.wait_for(look, timeout_s)
        if found is None:
            what = (
                f"did not print {pattern!r} in {timeout_s:g} s"
                if self.running
                else f"ended with {self.exit_code}"
            )
            raise ProcessFailedError(f"{self.name} {what}\n{self.tail()}")
        return found

    def tail(self) -> str:
        """Returns the end of its output, for an error message."""
        return "\n".join(f"  {line}" for line in self.lines()[-LAST_LINES_SHOWN:])

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, if it still runs."""
        if self.running:
            os.kill(self.pid, number)

    def wait(self, timeout_s: float) -> int:
        """Returns its exit status once it has ended and its output is complete. Raises ProcessFailedError."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise ProcessFailedError(f"{self.name} did not end in {timeout_s:g} s\n{self.tail()}") from None
        self._reader.join(timeout_s)
        return self._process.returncode

    def terminate(self, timeout_s: float = 60.0) -> int:
        """Sends SIGTERM and waits; SIGKILL when it takes longer than `timeout_s`. Returns the exit status."""
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self.kill()

    def kill(self) -> int:
        """Sends SIGKILL to what is left of it and its child processes; returns the exit status."""
        self.kill_group()
        return self.wait(30.0)

    def kill_group(self) -> None:
        """Sends SIGKILL to the remaining processes of its session, also after it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def _read_output(self) -> None:
        assert self._process.stdout is not None
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log_file, "ab", buffering=0) as log:
            for raw in self._process.stdout:
                log.write(raw)
                with self._changed:
                    self._lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                    self._lines_count += 1
                    self._changed.notify_all()
        exit_code = self._process.wait()
        with self._changed:
            self.exit_code = exit_code
            self._changed.notify_all()


_LIBC = ctypes.CDLL(ctypes.util.find_library("c") or None) if sys.platform == "linux" else None


def _die_with_parent() -> None:
    """Requests, in the child before exec, SIGKILL for when the parent ends for any reason."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
