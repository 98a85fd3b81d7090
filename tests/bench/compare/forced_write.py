"""What the disk of a run needs for one append that is forced: no durable answer is faster."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path
from typing import Final

WRITES: Final = 300
RECORD: Final = bytes(150)
"""About as long as a batch with one PartitionChangeRecord."""


def forced_write_ms(directory: Path) -> float:
    """The median."""
    took_s = []
    with open(directory / "forced-write", "ab", buffering=0) as file:
        for _ in range(WRITES):
            began_s = time.perf_counter()
            file.write(RECORD)
            os.fdatasync(file.fileno())
            took_s.append(time.perf_counter() - began_s)
    return 1e3 * statistics.median(took_s)
