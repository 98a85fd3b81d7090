"""Processor time and memory of a process and all it started, from /proc (Linux)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SAMPLE_S = 0.1


def descendants(pid: int) -> list[int]:
    """`pid` and what descends from it."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def cpu_s(pid: int) -> float:
    """Processor time of `pid` and all it started, the dead ones included once they were waited for."""
    ticks = 0
    for one in descendants(pid):
        if fields := _stat(one):
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS_PER_S


def _stat(pid: int) -> list[str]:
    """From the state on; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def resident_bytes(pid: int) -> int:
    """0 when the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError):
        return 0


def is_spark_worker(pid: int) -> bool:
    """Whether it is one of Spark's Python processes: their daemon, a planner, or what runs tasks."""
    try:
        return b"pyspark" in (command := Path(f"/proc/{pid}/cmdline").read_bytes()) and b"java" not in command
    except (FileNotFoundError, ProcessLookupError):
        return False


class PeakMemory:
    """While entered, looks again and again how much memory this process and Spark's Python workers hold."""

    def __init__(self) -> None:
        self.driver_bytes = 0
        self.worker_bytes = 0
        """Of the largest worker."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        own = os.getpid()
        while not self._stop.wait(SAMPLE_S):
            self.driver_bytes = max(self.driver_bytes, resident_bytes(own))
            for pid in descendants(own):
                if pid != own and is_spark_worker(pid):
                    self.worker_bytes = max(self.worker_bytes, resident_bytes(pid))
