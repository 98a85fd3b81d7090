"""Processor time and memory of a process and all it started, from /proc (Linux)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SAMPLE_S = 0.2

DRIVER, JVM, WORKERS, CONTROLLER = KINDS = ("driver", "JVM", "workers", "controller")
"""Workers are all of an engine's own Python processes: what starts them, planners, and what runs tasks."""


def descendants(pid: int) -> list[int]:
    """`pid` and its descendants."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := _stat(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def kind_of(pid: int) -> str | None:
    """The role of a process of the benchmark; None when it has ended or is a zombie."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if not command:
        return None
    if b"java" in command.split(b"\0")[0]:
        return JVM
    if b"pyspark" in command or b"multiprocessing" in command:
        return WORKERS
    return CONTROLLER if b"server.properties" in command else DRIVER


def _stat(pid: int) -> list[str]:
    """The fields from the state on; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def proportional_bytes(pid: int) -> int:
    """A page that several processes share counts in parts; 0 when the process is gone."""
    try:
        found = Path(f"/proc/{pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(found[0]) * 1024 if found else 0


def resident_bytes(pid: int) -> int:
    """0 when the process is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
    except (FileNotFoundError, ProcessLookupError):
        return 0


class ProcessWatch:
    """While entered, samples what this process and its descendants use.

    What a process uses between the last sample and its end is missed.
    """

    def __init__(self, in_total: bool = False) -> None:
        self.peak_bytes: dict[str, int] = {}
        """Memory of the largest process of each kind."""
        self.peak_total_bytes = 0
        """Memory of all descendants at the same time, with `in_total`: it takes longer."""
        self._in_total = in_total
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        self._kinds: dict[int, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProcessWatch:
        self._look()
        self._first = dict(self._last)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def cpu_s(self) -> dict[str, float]:
        """Processor time by kind of process."""
        used = dict.fromkeys(KINDS, 0.0)
        for pid, ticks in self._last.items():
            used[self._kinds[pid]] += (ticks - self._first.get(pid, 0)) / TICKS_PER_S
        return used

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_S):
            self._look()

    def _look(self) -> None:
        total = 0
        for pid in descendants(os.getpid()):
            if self._in_total and pid != os.getpid():
                total += proportional_bytes(pid)
            if fields := _stat(pid):
                kind = self._kinds[pid] = kind_of(pid) or self._kinds.get(pid, DRIVER)
                self._last[pid] = int(fields[11]) + int(fields[12])
                self.peak_bytes[kind] = max(self.peak_bytes.get(kind, 0), resident_bytes(pid))
        self.peak_total_bytes = max(self.peak_total_bytes, total)
