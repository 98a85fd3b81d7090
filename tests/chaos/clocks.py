"""The wall clock of one process, which can jump: a shim in C reads how far from a file."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from tests.support.lying_disk.lying_disk import compile_shim

SOURCE = Path(__file__).with_name("clock.c")
NANOSECONDS = 1_000_000_000


def build_clock(directory: Path) -> Path:
    return compile_shim(SOURCE, directory)


class WallClock:
    """The process gets `environment`; a shim that it has already stays in it."""

    def __init__(self, shim: Path, file: Path, environment: dict[str, str]) -> None:
        self._file = file
        file.write_bytes(bytes(8))
        loaded = [environment["LD_PRELOAD"]] if "LD_PRELOAD" in environment else []
        self.environment = {
            **environment,
            "LD_PRELOAD": ":".join([*loaded, str(shim)]),
            "CHAOS_CLOCK": str(file),
        }

    def jump(self, seconds: float) -> None:
        """Sets how far the clock is ahead from now on; 0 for the true time."""
        with open(self._file, "r+b", buffering=0) as file:
            os.pwrite(file.fileno(), struct.pack("=q", int(seconds * NANOSECONDS)), 0)
