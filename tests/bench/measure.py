"""How a benchmark takes its numbers: the best of several rounds, memory and time from the kernel."""

from __future__ import annotations

import os
import time
import timeit
from pathlib import Path

ROUNDS = 7
ROUND_S = 0.12

CPUCLOCK_SCHED = 2
"""Linux: the clock id of a process is its complement, three bits further left, and this kind."""


def best_time_s(statement: str, names: dict[str, object]) -> float:
    """Seconds for one execution of `statement`: the fastest of several rounds, which is the least disturbed.

    `names` are its local variables, so that the loop itself costs almost nothing.
    """
    timer = timeit.Timer(statement, globals=names)
    calls = 1
    while (elapsed := timer.timeit(calls)) < ROUND_S:
        calls = max(calls * 2, int(calls * ROUND_S / max(elapsed, 1e-9)))
    return min(timer.repeat(ROUNDS, calls)) / calls


def resident_bytes() -> int:
    """Physical memory of this process."""
    return resident_bytes_of(os.getpid())


def resident_bytes_of(pid: int) -> int:
    """Physical memory of process `pid`."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_time_s(pid: int) -> float:
    """Processor time that process `pid` has used, in user and kernel mode, over all of its threads.

    That of /proc/PID/stat, in nanoseconds instead of ticks: a tick is as long as hundreds of requests.
    """
    return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)


def percentile(values: list[float], fraction: float) -> float:
    """The value below which `fraction` of all lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * fraction), len(ordered) - 1)]
