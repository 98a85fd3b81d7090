"""`kraftctl-export`, killed with -9 after a step that the environment names."""

from __future__ import annotations

import os
import signal
import sys

from kraftctl_spark.cli import main

STEP_VARIABLE = "KILLED_EXPORT_STEP"


class KillDriver:
    """Kills the driver, even if a Python worker took the step."""

    def __init__(self, driver: int, step: str) -> None:
        self._driver = driver
        self._step = step

    def __call__(self, step: str) -> None:
        if step == self._step:
            os.kill(self._driver, signal.SIGKILL)


if __name__ == "__main__":
    # Workers must find the class where they can import it.
    from tests.spark.killed_export import KillDriver as ImportableKillDriver

    sys.exit(main(hook=ImportableKillDriver(os.getpid(), os.environ.get(STEP_VARIABLE, ""))))
