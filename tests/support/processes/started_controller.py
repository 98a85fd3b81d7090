"""`kraftctl start` as a process whose output is read line by line."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

SECONDS_MAX = 30.0


class StartedController:
    """On the configuration in `file`."""

    def __init__(self, file: Path, wrap: Callable[[list[str]], list[str]] = list) -> None:
        """`wrap` makes another command of the one that starts it."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
        self.process = subprocess.Popen(
            wrap([sys.executable, "-m", "kraftctl", "start", str(file)]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        self.output = ""
        self.port = 0

    def await_text(self, pattern: str) -> str:
        """All that was written since the last call, up to the end of what matches."""
        stream = self.process.stdout
        assert stream is not None
        while (found := re.search(pattern, self.output)) is None:
            assert select.select([stream], [], [], SECONDS_MAX)[0], f"no {pattern} in\n{self.output}"
            data = os.read(stream.fileno(), 65536)
            assert data, f"it has ended without {pattern}:\n{self.output}"
            self.output += data.decode()
        seen, self.output = self.output[: found.end()], self.output[found.end() :]
        return seen

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        self.await_text("Stopped")
        return self.process.wait(SECONDS_MAX)
