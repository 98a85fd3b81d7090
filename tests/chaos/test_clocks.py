"""The shim moves the wall clock of a process while it runs, and no other clock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.chaos.clocks import WallClock, build_clock

PROGRAM = "import sys, time\nfor _ in sys.stdin: print(time.time() - time.monotonic(), flush=True)"


def test_a_wall_clock_jumps_there_and_back(tmp_path: Path) -> None:
    clock = WallClock(build_clock(tmp_path), tmp_path / "clock", {"LANG": "C"})
    assert clock.environment["LANG"] == "C"
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        command,
        env={**os.environ, **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for jump_s in (0.0, -7200.0, 86_400.5, 0.0):
            clock.jump(jump_s)
            print(file=process.stdin, flush=True)
            ahead_s = float(process.stdout.readline()) - (time.time() - time.monotonic())
            assert abs(ahead_s - jump_s) < 0.9
