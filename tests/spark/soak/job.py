"""`kraftctl-export` with a hook: `python -m tests.spark.soak.job CONTROL_DIRECTORY run|compact ...`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kraftctl_spark.cli import main

if __name__ == "__main__":
    # Workers must find the class where they can import it.
    from tests.spark.soak.hook import SoakHook

    sys.exit(main(sys.argv[2:], SoakHook(Path(sys.argv[1]), sys.argv[2], os.getpid())))
