"""How a benchmark takes its numbers: the best of several rounds, memory and time from the kernel."""

from __future__ import annotations

import os
import timeit
from pathlib import Path

ROUNDS = 7
ROUND_S = 0.12


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
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def processor_time_s(pid: int) -> float:
    """Processor time that process `pid` has used, in user and kernel mode, over all of its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], fraction: float) -> float:
    """The value below which `fraction` of all lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * fraction), len(ordered) - 1)]
