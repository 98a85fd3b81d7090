"""What spark-submit runs: `spark-submit --master ... run_export.py run --output ...`, see README.md."""

from __future__ import annotations

import sys

from kraftctl_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())
