"""The flag that chooses what runs the tasks of an export, and the flags that only one engine has."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.commands.whole_number import whole_number

if TYPE_CHECKING:
    from kraftctl_spark.engines.engine import Engine

SPARK, LOCAL = "spark", "local"
NEEDED = {SPARK: ("pyspark", "pyarrow"), LOCAL: ("pyarrow",)}
"""The modules without which an engine cannot run."""

FLAGS_OF = {"master": SPARK, "checkpoint": SPARK, "workers": LOCAL}
"""The flags that have no meaning for the other engine."""


def add_engine_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine",
        choices=tuple(NEEDED),
        default=SPARK,
        help=f"what runs the tasks: Spark, or processes of this machine, without a JVM [{SPARK}]",
    )
    parser.add_argument(
        "--workers", type=whole_number(1), help=f"with --engine {LOCAL}: the number of processes [the cores]"
    )


def check_engine_flags(options: argparse.Namespace) -> None:
    """ValueError for a flag that only the other engine has."""
    for flag, engine in FLAGS_OF.items():
        if getattr(options, flag) is not None and options.engine != engine:
            raise ValueError(f"--{flag} is for --engine {engine}: leave it out, or choose that engine")


def engine_of(options: argparse.Namespace, directory: Path) -> Engine:
    """Returns the engine of these flags; only that of Spark imports PySpark. It notes its progress in the
    `directory` of the output unless a flag names another place.
    """
    if options.engine == LOCAL:
        from kraftctl_spark.engines.local_engine import LocalEngine

        return LocalEngine(options.workers or cores())
    from kraftctl_spark.engines.spark_engine import SparkEngine

    return SparkEngine(options.master, options.checkpoint or directory / "_checkpoint")


def cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
