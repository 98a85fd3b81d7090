"""The processes of an export, found by a mark that all of them inherit (Linux)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

MARK_VARIABLE = "EXPORT_SOAK_MARK"


@dataclass(frozen=True)
class Found:
    """A process and its part in the export."""

    pid: int
    parent: int
    kind: str
    """`driver`, `compactor`, `jvm`, `planner`, `worker` (also the daemon that forks them) or `other`."""
    command: str


def marked(mark: str) -> list[Found]:
    """All processes with the mark that have not ended."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    found: list[Found] = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdecimal():
            continue
        try:
            if wanted not in (directory / "environ").read_bytes().split(b"\0"):
                continue
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            fields = (directory / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            found.append(Found(int(directory.name), int(fields[1]), _kind(command), command.strip()))
    return found


def _kind(command: str) -> str:
    if "python_streaming_source_runner" in command:
        return "planner"
    if "pyspark.daemon" in command or "pyspark.worker" in command:
        return "worker"
    if "soak.job" in command:
        return "compactor" if " compact " in f"{command} " else "driver"
    return "jvm" if "SparkSubmit" in command else "other"


def jvm_of(driver: int) -> int:
    """The JVM that a driver has started; the process itself if there is none."""
    for directory in Path("/proc").iterdir():
        try:
            is_jvm = directory.name.isdecimal() and "SparkSubmit" in (directory / "cmdline").read_text()
            if is_jvm and _parent(int(directory.name)) == driver:
                return int(directory.name)
        except OSError:
            continue
    return os.getpid()


def executor_of(worker: int) -> int:
    """The JVM that a worker belongs to."""
    pid = worker
    while "java" not in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode():
        pid = _parent(pid)
    return pid


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
