"""An export as a process, with small ranges: `python -m tests.spark.local_job CONTROL run ...`.

A test ends its processes at named steps through the directory CONTROL, as `make soak-export` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kraftctl_spark.cli import main
from kraftctl_spark.log import log_range
from kraftctl_spark.tables import commit_log
from tests.spark.soak import processes
from tests.support.processes.spark_export import SOURCE_ROOTS, spark_environment

PER_TASK = 25
COMMITS_PER_STATE = 3


def start(
    control: Path, printed: Path, *arguments: str, engine: str = "local", **environment: str
) -> subprocess.Popen[bytes]:
    """Starts `kraftctl-export run` in a group of processes of its own."""
    roots = [*map(str, SOURCE_ROOTS), os.environ.get("PYTHONPATH", "")]
    variables = {
        **spark_environment(),
        "PYTHONPATH": os.pathsep.join(roots).rstrip(os.pathsep),
        processes.MARK_VARIABLE: str(control),
        **environment,
    }
    command = [sys.executable, "-m", "tests.spark.local_job", str(control), "run", "--engine", engine]
    with printed.open("ab") as log:
        return subprocess.Popen(
            [*command, *arguments],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


if __name__ == "__main__":
    # Workers must find the class where they can import it.
    from tests.spark.soak.hook import SoakHook

    log_range.OFFSETS_PER_RANGE = PER_TASK
    vars(commit_log).update(COMMITS_PER_STATE=COMMITS_PER_STATE)
    sys.exit(main(sys.argv[2:], SoakHook(Path(sys.argv[1]), sys.argv[2], os.getpid())))
